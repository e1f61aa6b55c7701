"""What a human approves: a tool name and JSON arguments, as RFC 8785 canonical bytes.

The text is read strictly, since whatever two JSON readers understand differently would let the
approver see one action and the tool another. Sources: RFC 8259 (JSON), RFC 7493 (I-JSON: UTF-8
only, no repeated names, integers within 2^53-1), RFC 8785 (canonical bytes), RFC 6901 (pointers).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from resumeproof.domain.canonical import MAX_INTEGER, canonical_bytes, digest_of
from resumeproof.errors import ActionRefused

MAX_TEXT_BYTES: Final = 1 << 20
MAX_NESTING: Final = 100
MAX_NUMBER_DIGITS: Final = 400
SIMULATED_TOOL: Final = "simulated"

_ACTION_FORM = frozenset({"tool", "arguments"})
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Possessive, and closing quote optional: an endless string must cost one pass, not one per quote.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]')
_SHOWN_NAME_CHARACTERS = 60


@dataclass(frozen=True)
class Action:
    """An action as it is stored, approved, sent and hashed. Equal bytes are equal actions.

    `canonical` is taken as it is: `parse_action` makes it from a text, `from_canonical` trusts
    what a store holds. It is the whole document that was given, so that its digest can be
    recomputed from the file with any RFC 8785 implementation.
    """

    canonical: bytes

    @classmethod
    def from_canonical(cls, canonical: bytes) -> Action:
        """Return the action of stored bytes, which are neither checked nor written again."""
        return cls(canonical)

    @property
    def digest(self) -> str:
        """SHA-256 of the stored bytes, 64 lowercase hex characters."""
        return digest_of(self.canonical)

    @property
    def tool(self) -> str:
        """The tool's name. Raises ActionRefused if the stored bytes are no action."""
        return self._tool

    @cached_property
    def _tool(self) -> str:
        return _call(_read(self.canonical))[0]

    @property
    def arguments(self) -> dict[str, Any]:
        """The tool's arguments, a new dict each time. Raises ActionRefused like `tool`."""
        return _call(_read(self.canonical))[1]


def parse_action(data: bytes) -> Action:
    """Return the action that a JSON text describes.

    An object with exactly the members `tool` (a string that is not empty) and `arguments` (an
    object) calls that tool. Any other object, be it with one of the two or with a third member,
    is taken whole as the arguments of the tool `simulated`.

    Numbers mean the nearest IEEE 754 double, as in RFC 8785: `1.0` is `1`, `1e-400` is `0`.

    Raises ActionRefused: more than 1 MiB (of text, or of canonical bytes), a byte-order mark,
    invalid UTF-8, nesting deeper than 100 (the top level is 1), invalid JSON, a top level that is
    no object, a repeated name, a lone surrogate, NaN or Infinity or what overflows to them, a
    number beyond 2^53-1 either way (each such double is an integer), a number of more than 400
    digits, a bad `tool` or `arguments`. `place` is a line, column (from 1, in characters) and
    byte (from 0) for the text, a JSON pointer for the document.
    """
    document = _read(data)
    _call(document)
    canonical = canonical_bytes(document)
    # 9e15 grows to sixteen digits: what is accepted once must be accepted again as it was stored.
    if len(canonical) > MAX_TEXT_BYTES:
        raise ActionRefused(f"canonical form over {MAX_TEXT_BYTES} bytes", _pointer(None))
    return Action(canonical)


def _call(document: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Tool and arguments of a document."""
    if document.keys() != _ACTION_FORM:
        return SIMULATED_TOOL, document
    tool, arguments = document["tool"], document["arguments"]
    if not isinstance(tool, str):
        raise ActionRefused("tool is not a string", "at /tool")
    if not tool:
        raise ActionRefused("tool is empty", "at /tool")
    if not isinstance(arguments, dict):
        raise ActionRefused("arguments is not an object", "at /arguments")
    return tool, arguments


# -- the text --------------------------------------------------------------------------------


class _Number(str):
    """A number, or NaN or Infinity, as it was spelled."""

    __slots__ = ()


# Objects arrive as tuples of pairs, which keeps repeated names; numbers arrive as they were
# spelled, since int() refuses 4,300 digits with an error of its own.
_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple, parse_int=_Number, parse_float=_Number, parse_constant=_Number
)


def _read(data: bytes) -> dict[str, Any]:
    text = _decoded(data)
    _limit_nesting(text)
    try:
        parsed = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(" at").removesuffix(" starting")
        raise ActionRefused(f"invalid JSON: {problem}", _position(text[: error.pos])) from error
    if not isinstance(parsed, tuple):
        raise ActionRefused("not an object", _pointer(None))
    document: dict[str, Any] = _checked(parsed, None)
    return document


def _decoded(data: bytes) -> str:
    if len(data) > MAX_TEXT_BYTES:
        raise ActionRefused(f"over {MAX_TEXT_BYTES} bytes", f"at byte {MAX_TEXT_BYTES}")
    if data.startswith(_BYTE_ORDER_MARKS):
        raise ActionRefused("byte-order mark", _position(""))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ActionRefused("invalid UTF-8", _position(data[: error.start].decode())) from error


def _limit_nesting(text: str) -> None:
    # Before parsing: the parser recurses, and would end in RecursionError.
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_NESTING:
                place = _position(text[: token.start()])
                raise ActionRefused(f"nesting deeper than {MAX_NESTING}", place)
        elif first in "]}":
            depth -= 1


def _position(before: str) -> str:
    """The place that follows the text `before`."""
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    return f"at line {line}, column {column}, byte {len(before.encode())}"


# -- the document ----------------------------------------------------------------------------

# A link to the parent's place and the own name or index. Not a string: copying a long name for
# each of many members would cost the square of the text.
_Place: TypeAlias = "tuple[_Place, str | int] | None"


def _checked(parsed: Any, place: _Place) -> Any:
    """Return what the decoder made, with dicts and numbers, or refuse the first bad place."""
    match parsed:
        case _Number():
            return _number(parsed, place)
        case str():
            return _string(parsed, place)
        case list():
            return [_checked(item, (place, index)) for index, item in enumerate(parsed)]
        case tuple():
            members: dict[str, Any] = {}
            for name, value in parsed:
                member = (place, _string(name, (place, name)))
                if name in members:
                    raise ActionRefused("duplicate member", _pointer(member))
                members[name] = _checked(value, member)
            return members
        case _:
            return parsed


def _string(text: str, place: _Place) -> str:
    if _LONE_SURROGATE.search(text):
        raise ActionRefused("lone surrogate", _pointer(place))
    return text


def _number(text: str, place: _Place) -> int | float:
    if len(text) > MAX_NUMBER_DIGITS and sum(map(str.isdigit, text)) > MAX_NUMBER_DIGITS:
        raise ActionRefused(f"number of more than {MAX_NUMBER_DIGITS} digits", _pointer(place))
    value = float(text)
    if not math.isfinite(value):
        spelled = "number overflows to Infinity" if text[-1].isdigit() else f"{text} is not JSON"
        raise ActionRefused(spelled, _pointer(place))
    # Of doubles: beyond 2^53-1 each is an integer, and one of them stands for several spellings.
    if abs(value) > MAX_INTEGER:
        raise ActionRefused("integral value outside -(2^53-1)..2^53-1", _pointer(place))
    return int(value) if value.is_integer() else value


def _pointer(place: _Place) -> str:
    """RFC 6901, with long names cut and what cannot be printed on one line escaped as in JSON."""
    names: list[str] = []
    while place is not None:
        place, name = place
        shown = str(name)[:_SHOWN_NAME_CHARACTERS]
        shown = json.dumps(shown, ensure_ascii=not shown.isprintable())[1:-1]
        names.append("/" + shown.replace("~", "~0").replace("/", "~1"))
    return "at " + "".join(reversed(names)) if names else "at the top level"

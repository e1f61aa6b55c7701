"""The arguments of a call, as strace spells them under `-y -xx`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r'"[^"]*"|[\[({]|[\])}]|, |[^"\[\](){},]+|,')
_DESCRIPTOR: Final = re.compile(r"(0x[0-9a-f]+|-?\d+|AT_FDCWD)(?:<([^>]*)>(\(deleted\))?)?")
_ESCAPED: Final = re.compile(r"\\x([0-9a-f]{2})")
_BASES: Final = re.compile(r'iov_base=("[^"]*"(?:\.\.\.)?|[^,}]*)')
_INTEGER: Final = re.compile(r"-?(?:0x[0-9a-f]+|\d+)")

CURRENT_DIRECTORY: Final = -100
"""AT_FDCWD, linux/fcntl.h."""


def split(arguments: str) -> list[str]:
    """Part a call's arguments at the commas that stand in no string and no bracket."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(arguments):
        if token == ", " and depth == 0:
            parts.append("")
            continue
        if token in ("[", "(", "{"):
            depth += 1
        elif token in ("]", ")", "}"):
            depth -= 1
        parts[-1] += token
    return parts


@dataclass(frozen=True, slots=True)
class DescriptorArgument:
    """A descriptor, and the kernel's name for what it refers to, where strace gave it."""

    number: int
    refers_to: str | None = None
    deleted: bool = False


def descriptor(argument: str) -> DescriptorArgument | None:
    """Read `3</path>` or `AT_FDCWD</path>`; None for what is no descriptor."""
    found = _DESCRIPTOR.match(argument)
    if found is None:
        return None
    number = CURRENT_DIRECTORY if found[1] == "AT_FDCWD" else int(found[1], 0)
    named = None if found[2] is None else _unescape(found[2]).decode(*_AS_NAMES)
    return DescriptorArgument(number, named, found[3] is not None)


_AS_NAMES: Final = ("utf-8", "surrogateescape")


def data(argument: str) -> bytes | None:
    """The bytes of a string; None for a pointer, and for a string that strace cut short."""
    if not argument.startswith('"') or not argument.endswith('"'):
        return None
    return _unescape(argument[1:-1])


def path(argument: str) -> str | None:
    """A string as a path; None for a pointer."""
    named = data(argument)
    return None if named is None else named.decode(*_AS_NAMES)


def vector(argument: str) -> bytes | None:
    """The joined bytes of an array of `iovec`; None if any of them is not known."""
    pieces = [data(base) for base in _BASES.findall(argument)]
    if argument.endswith("...]") or not all(piece is not None for piece in pieces):
        return None
    return b"".join(piece for piece in pieces if piece is not None)


def words(argument: str) -> tuple[str, ...]:
    """The strings of an array of strings, as `execve` takes it."""
    return tuple(
        _unescape(text).decode("utf-8", "replace") for text in re.findall(r'"([^"]*)"', argument)
    )


def flags(argument: str) -> frozenset[str]:
    """The names of the bits that are set."""
    return frozenset(argument.split("|"))


def integer(argument: str) -> int | None:
    """The first number in it, such as that of `[5]`; None for `NULL` or a name."""
    found = _INTEGER.search(argument)
    return None if found is None else int(found[0], 0)


def permissions(argument: str) -> int:
    """Permission bits, which strace prints in octal, after the kind of a file where it is given."""
    return int(argument.rpartition("|")[2], 8) & 0o7777


def field(argument: str, name: str) -> str:
    """The text of a field of a structure; empty if it has none of that name."""
    found = re.search(rf"[{{ ]{name}=([^,}}]*)", argument)
    return found[1] if found else ""


def _unescape(text: str) -> bytes:
    if len(text) == 4 * text.count("\\x"):
        return bytes.fromhex(text.replace("\\x", ""))
    return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), text).encode("latin-1", "replace")

"""Text that somebody else wrote, made safe to print on one line."""

from __future__ import annotations


def shown(text: str) -> str:
    """`text` on one line, harmless: what is no printable character is written as an escape.

    Not printable are control characters, line ends, bidirectional marks, other format characters
    and lone surrogates. Source: Unicode Technical Report 36, section 2 and 3.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else escaped(character) for character in text
    )


def escaped(character: str) -> str:
    """One character as Python and JSON would escape it."""
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

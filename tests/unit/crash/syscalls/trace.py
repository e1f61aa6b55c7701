"""Traces for tests, written as one reads them and spelt as strace does."""

from __future__ import annotations

import re

from resumeproof.crash.syscalls.descriptors import Surroundings
from resumeproof.crash.syscalls.history import History
from resumeproof.crash.syscalls.interpret import interpret
from resumeproof.crash.syscalls.parse import read_births, read_events
from resumeproof.crash.syscalls.places import Places
from resumeproof.crash.syscalls.tree import Tree

ROOT = "/root-of-it"
MASK = 0o022

_TEXT = re.compile(r'"([^"]*)"|<(/[^>]*|pipe:[^>]*)>')


def spelt(line: str) -> str:
    """The line with its strings and paths in hexadecimal, if they are not yet."""

    def spell(found: re.Match[str]) -> str:
        text = found[1] if found[1] is not None else found[2]
        if text.startswith("\\x"):
            return found[0]
        escaped = "".join(f"\\x{byte:02x}" for byte in text.encode())
        return f'"{escaped}"' if found[1] is not None else f"<{escaped}>"

    return _TEXT.sub(spell, line) + "\n"


def read(*lines: str, start: Tree | None = None) -> History:
    """What a run comes to whose trace has these lines, in a directory at ROOT."""
    text = [spelt(line) for line in lines]
    tree = start or Tree()
    history = History(Places(ROOT, tree), ("",), max(0, *tree.nodes) + 1)
    interpret(read_events(text), read_births(text), history, Surroundings(mask=MASK))
    return history

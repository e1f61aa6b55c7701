"""Recordings for tests, made from bare operations."""

from __future__ import annotations

from collections.abc import Sequence

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.tree import Tree


def recording(
    *operations: op.Operation | tuple[int, op.Operation],
    domains: Sequence[str] = ("",),
    initial: dict[str, int] | None = None,
    sources: Sequence[str | None] = (),
) -> op.Recording:
    """One process that made these calls; a pair gives a call's failure domain besides."""
    calls = []
    for ordinal, given in enumerate(operations, 1):
        domain, operation = given if isinstance(given, tuple) else (0, given)
        source = sources[ordinal - 1] if sources else None
        name = type(operation).__name__.lower()
        calls.append(op.Call(ordinal, 0, name, 1, operation, domain, source))
    process = op.Process(100, None, ("python", "save.py"))
    return op.Recording(calls, [process], initial or {}, 0, domains)


def tree(**files: bytes) -> Tree:
    """A directory with these files, numbered from 1."""
    made = Tree()
    for number, (name, data) in enumerate(files.items(), 1):
        made.apply(op.Create(number, name, 0o644))
        made.apply(op.Write(number, name, 0, data))
    return made

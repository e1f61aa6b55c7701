"""A durable system call in a few words, for whoever looks at what a program did."""

from __future__ import annotations

from resumeproof.crash.syscalls.operations import Call, Print, Rename, SyncAll, Write

OUTSIDE = "(elsewhere)"


def in_words(call: Call) -> str:
    """Its name, what it was done to, and the source line where that is known."""
    line = f", {call.source}" if call.source else ""
    return f"{call.name} {_what(call)}{line}".replace(" ,", ",").rstrip()


def _what(call: Call) -> str:
    match call.operation:
        case Write(path=path, data=data):
            return f"{path}, {_bytes(data)}"
        case Rename(source=source, target=target, exchanges=exchanges):
            between = "and" if exchanges else "to"
            return f"{_path(source)} {between} {_path(target)}"
        case Print(data=data):
            return f"standard output, {_bytes(data)}"
        case SyncAll():
            return ""
        case operation:
            return _path(operation.path)


def _path(path: str | None) -> str:
    return OUTSIDE if path is None else path or "."


def _bytes(data: bytes) -> str:
    return f"{len(data)} byte{'' if len(data) == 1 else 's'}"

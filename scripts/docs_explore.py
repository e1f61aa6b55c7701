"""What the documents say of the explorer's examples; a test holds the examples to it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "explore"
HEADS = ("program", "command", "kill-safe", "power-safe", "what is found")


def example_rows() -> Iterator[tuple[str, ...]]:
    for row in json.loads((EXAMPLES / "expected.json").read_text(encoding="utf-8")):
        yield (
            row["name"],
            f"`{shlex.join(row['command'])}`",
            _yes(row["kill_safe"]),
            _yes(row["power_safe"]),
            row["found"] or "nothing",
        )


def device_rules() -> str:
    """The device model, as a list."""
    from resumeproof.crash.syscalls.device import POSIX

    return "".join(f"- {rule}\n" for rule in POSIX.rules)


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"

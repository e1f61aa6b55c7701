"""Whether each promised line is in the log. A torn last line was never promised."""

from __future__ import annotations

from pathlib import Path


def check(directory: Path, printed: str) -> None:
    log = directory / "log.txt"
    found = log.read_text().split("\n")[:-1] if log.exists() else []
    promised = printed.splitlines()
    assert found[: len(promised)] == promised, f"the log says {found}, promised was {promised}"

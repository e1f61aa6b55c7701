"""Whether the counter, if it is there, is a number, and as high as was promised."""

from __future__ import annotations

from pathlib import Path


def check(directory: Path, printed: str) -> None:
    promised = len(printed.splitlines())
    counter = directory / "counter"
    if not counter.exists():
        assert promised == 0, f"counter is missing, and {promised} was promised"
        return
    text = counter.read_text()
    assert text, "counter is empty"
    assert int(text) >= promised, f"counter says {text.strip()}, and {promised} was promised"

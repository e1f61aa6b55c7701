"""Whether state.json, if it is there, can be read, and counts as far as was promised."""

from __future__ import annotations

import json
from pathlib import Path


def check(directory: Path, printed: str) -> None:
    promised = len(printed.splitlines())
    state = directory / "state.json"
    if not state.exists():
        assert promised == 0, f"state.json is missing, and {promised} was promised"
        return
    text = state.read_text()
    assert text, "state.json is empty"
    count = json.loads(text)["count"]
    assert count >= promised, f"state.json says {count}, and {promised} was promised"

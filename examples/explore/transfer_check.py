"""Whether the two accounts hold 100 together, and whatever was promised has moved."""

from __future__ import annotations

import struct
from pathlib import Path


def check(directory: Path, printed: str) -> None:
    promised = len(printed.splitlines())
    file = directory / "accounts"
    content = file.read_bytes() if file.exists() else b""
    if not content.strip(b"\0"):
        assert promised == 0, f"accounts is empty, and {promised} was promised"
        return
    first, second = struct.unpack("=qq", content)
    assert first + second == 100, f"{first} and {second} are {first + second} together"
    assert second >= promised, f"{second} has moved, and {promised} was promised"

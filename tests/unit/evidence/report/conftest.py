"""Receipts to draw: that of every story, and the committed demo's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.evidence.scene import Scene

DEMO = Path(__file__).parents[4] / "demo-output" / "receipt.json"


@pytest.fixture(scope="session")
def stories(whole: Scene) -> dict[str, Any]:
    """The receipt of every story, in one file."""
    receipt: dict[str, Any] = json.loads((whole.directory / "receipt.json").read_text("utf-8"))
    return receipt


@pytest.fixture
def demo() -> dict[str, Any]:
    """The committed demo's receipt, to be changed."""
    receipt: dict[str, Any] = json.loads(DEMO.read_text("utf-8"))
    return receipt

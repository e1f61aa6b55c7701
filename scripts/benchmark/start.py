"""What it costs to start: each life of a proof is a process of its own, and pays it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from benchmark.measure import Act, Finding, compare

VERSION_TARGET: Final = 1.5
LIFE_TARGET: Final = 2.0
DEMO_TARGET: Final = 12.0
FLOOR: Final = "python -c 'import click'"


def section(directory: Path, *, quick: bool) -> Iterator[Finding]:
    """Measure whole processes; each demo writes a directory below `directory`."""
    program = str(Path(sys.executable).with_name("resumeproof"))
    floor = partial(_run, sys.executable, "-c", "import click")
    version = partial(_run, program, "--version")
    life = partial(_run, sys.executable, "-c", "import resumeproof.lab.life")
    demos: list[Act] = [
        partial(_run, program, "demo", "--output-dir", str(directory / f"demo-{number}"))
        for number in range(5 if quick else 15)
    ]
    # Byte code is compiled by whoever comes first.
    version(), life()
    for name, acts, target in (
        ("resumeproof --version", [version] * (10 if quick else 40), VERSION_TARGET),
        ("import of a life's modules", [life] * (10 if quick else 40), LIFE_TARGET),
        ("resumeproof demo", demos, DEMO_TARGET),
    ):
        yield compare(name, FLOOR, [(act, floor) for act in acts], target=target)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)

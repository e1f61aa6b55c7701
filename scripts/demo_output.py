"""Make demo-output/, the committed run of the demo: virtual time and seeded ids, real processes.

What differs from one making to the next is what no injection reaches: process ids, the versions in
`environment`, and the bytes of a database between SQLite versions, with their SHA-256.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import Boundary, CrashPoint
from resumeproof.lab.demo import FILES, DemoResult, run_demo
from resumeproof.lab.subject import Times

ROOT: Final = Path(__file__).resolve().parent.parent
OUTPUT: Final = ROOT / "demo-output"
START: Final = "2026-01-01T00:00:00.000000Z"


def make(directory: Path) -> DemoResult:
    """Carry the committed demo out in an empty directory."""
    return run_demo(
        directory,
        point=CrashPoint(Boundary.TOOL_AFTER),
        kill=Kill.EXIT86,
        times=Times(START),
        progress=lambda _: None,
    )


def main(output: Path = OUTPUT) -> int:
    """Make it beside `output`, and put it there if every fact is as it should be."""
    output.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".demo-output-") as made:
        result = make(Path(made))
        for fact in result.broken:
            print(f"{fact.what}: expected {fact.expected}, found {fact.found}", file=sys.stderr)
        if result.broken:
            return 1
        for name in FILES:
            (Path(made) / name).replace(output / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())

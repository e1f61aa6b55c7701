"""Draw the pictures in docs/ and the committed demo's report anew, from its receipt and the code.

Without an option they are rewritten; `--check` writes nothing, names each stale one and exits 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from resumeproof.evidence.report import render
from resumeproof.evidence.report.drawings import crash_drawings, machine_drawing

ROOT = Path(__file__).resolve().parent.parent


def pictures() -> dict[str, str]:
    """Every picture, by its path in the repository."""
    receipt = json.loads((ROOT / "demo-output" / "receipt.json").read_text(encoding="utf-8"))
    modes = {workflow["id"]: workflow["mode"] for workflow in receipt["workflows"]}
    drawn = {
        f"docs/pictures/crash-{modes[identifier].replace('_', '-')}.svg": text
        for identifier, text in crash_drawings(receipt).items()
    }
    return {
        **drawn,
        "docs/pictures/state-machine.svg": machine_drawing(),
        "demo-output/report.html": render(receipt),
    }


def main(arguments: list[str], *, root: Path = ROOT) -> int:
    """Refresh or check every picture, and return the exit status."""
    parser = argparse.ArgumentParser(prog="regenerate-docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, name what is stale")
    check = parser.parse_known_args(arguments)[0].check
    stale = {
        name: text for name, text in pictures().items() if text.encode() != _bytes(root / name)
    }
    for name, text in stale.items():
        print(f"{name} is stale" if check else name)
        if not check:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8", newline="")
    return int(check and bool(stale))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

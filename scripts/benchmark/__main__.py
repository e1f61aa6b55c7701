"""The command line of `scripts/bench`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from benchmark import growth, opening, scenarios, start, states, steps
from benchmark.measure import Bound, Count, Finding, Note, Ratio


class Section(Protocol):
    """Measures below a directory; `quick` is for a first impression."""

    def __call__(self, directory: Path, *, quick: bool) -> Iterator[Finding]: ...


SECTIONS: Mapping[str, Section] = MappingProxyType(
    {
        "scenarios": scenarios.section,
        "states": states.section,
        "steps": steps.section,
        "start": start.section,
        "growth": growth.section,
        "report": opening.section,
    }
)


def verdict(finding: Finding) -> str:
    """`ok`, or `OVER` the target; `-` for what is not judged or could not be counted."""
    if isinstance(finding, Note) or finding.ok is None:
        return "-"
    return "ok" if finding.ok else "OVER"


def line(finding: Finding) -> str:
    match finding:
        case Ratio():
            measured, floor = finding.measured_seconds * 1e3, finding.floor_seconds * 1e3
            return (
                f"{finding.name:<44} {measured:>9.3f} ms {floor:>9.3f} ms"
                f" {finding.value:>6.2f} x {finding.target:>5.1f} x  {verdict(finding)}"
                f"  (floor: {finding.floor})"
            )
        case Count():
            found = "not counted" if finding.found is None else f"{finding.found:g}"
            return f"{finding.name:<44} {found:>25} {finding.target:>17g}    {verdict(finding)}"
        case Bound():
            found, most = (
                f"{value:,.0f} {finding.unit}" for value in (finding.found, finding.target)
            )
            return f"{finding.name:<44} {found:>25} {most:>17}    {verdict(finding)}"
        case Note():
            return f"{finding.name:<44} {finding.value:>12}"


def document(finding: Finding) -> dict[str, Any]:
    ratio = {"ratio": finding.value} if isinstance(finding, Ratio) else {}
    return {**asdict(finding), **ratio, "verdict": verdict(finding)}


def main(arguments: list[str]) -> int:
    """Print the findings of the chosen sections; 1 if one of them is over its target."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Measure resumeproof as ratios to floors measured in the same run.",
    )
    parser.add_argument("--section", choices=SECTIONS, help="measure this one only")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller stores")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--directory", type=Path, default=Path(), help="where stores are made; on a real disk"
    )
    chosen = parser.parse_args(arguments)
    findings: dict[str, list[Finding]] = {}
    tell: Callable[[str], None] = (
        partial(print, flush=True) if chosen.format == "text" else lambda _: None
    )
    for name, section in SECTIONS.items():
        if chosen.section in (None, name):
            tell(f"{name:<44} {'median':>12} {'floor':>12} {'ratio':>8} {'target':>7}")
            findings[name] = []
            with tempfile.TemporaryDirectory(prefix=".bench-", dir=chosen.directory) as made:
                for finding in section(Path(made).resolve(), quick=chosen.quick):
                    findings[name].append(finding)
                    tell(f"  {line(finding)}")
    if chosen.format == "json":
        documents = {name: list(map(document, found)) for name, found in findings.items()}
        print(json.dumps(documents, indent=2))
    return int(any(verdict(f) == "OVER" for found in findings.values() for f in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What the documents show of demo-output, the committed demo: its picture, and what commands print.

Every value comes from the files of that directory, as the real command line prints them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from click.testing import CliRunner

from resumeproof.cli import main

DEMO = Path(__file__).resolve().parent.parent / "demo-output"


def demo_timeline() -> str:
    text = (DEMO / "timeline.txt").read_text(encoding="utf-8")
    return f"```text\n{text}```\n"


def workflow_json() -> str:
    """One workflow, as every command prints it."""
    return f"```json\n{printed('show', '--workflow', first_workflow())}```\n"


def documents_rows() -> Iterator[tuple[str, str]]:
    """Each command that prints something else, and the members of its document."""
    for words in (
        ("list",),
        ("effects",),
        ("timeline", "--workflow", first_workflow()),
        ("verify", "."),
    ):
        yield f"`{words[0]}`", members(json.loads(printed(*words)))


def printed(*words: str) -> str:
    """What a command prints for programs, run in demo-output on the stores that lie there."""
    with contextlib.chdir(DEMO):
        ran = CliRunner().invoke(main, [*words, "--format", "json"])
    if ran.exit_code != 0:
        raise ValueError(f"{words} exits with {ran.exit_code}: {ran.stderr}")
    return ran.stdout


def first_workflow() -> str:
    return str(json.loads(printed("list"))["workflows"][0]["id"])


def members(document: Mapping[str, object]) -> str:
    """The names in a document: `name`, and `name[]` with the names of its first item."""
    told = []
    for name, value in document.items():
        if isinstance(value, list):
            inner = members(value[0]) if value and isinstance(value[0], dict) else ""
            told.append(f"`{name}[]`" + (f" ({inner})" if inner else ""))
        elif isinstance(value, dict) and name == "totals":
            told.append(f"`{name}` ({members(value)})")
        else:
            told.append(f"`{name}`")
    return ", ".join(told)

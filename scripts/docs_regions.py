"""Refresh the generated regions of README.md and docs/, so that no table is written twice.

A region stands between `<!-- generated: NAME -->` and `<!-- /generated -->`, and NAME is a key of
`GENERATORS`. Without an option the regions are rewritten; `--check` writes nothing, names each
stale region and exits 1.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path

import click

from docs_boundaries import boundaries_rows, promises_rows
from docs_crash_points import HEADS as CRASH_POINT_HEADS
from docs_crash_points import rows as crash_point_rows
from docs_detection import HEADS, detection_rates, detection_row, trials
from docs_evidence import receipt_rows
from docs_examples import demo_timeline, documents_rows, workflow_json
from docs_explore import HEADS as EXPLORE_HEADS
from docs_explore import device_rules, example_rows
from docs_kernels import HEADS as KERNEL_HEADS
from docs_kernels import rows as kernel_rows
from resumeproof import cli
from resumeproof import errors as error_module
from resumeproof.domain.recovery import RULES
from resumeproof.domain.status import ENDED, MEANING, TRANSITIONS, Status
from resumeproof.domain.verdict import GUARANTEE
from resumeproof.errors import EXIT_MEANING, ResumeproofError
from resumeproof.proof.shapes import SHAPES, Shape

ROOT = Path(__file__).resolve().parent.parent

OPENING, CLOSING = "<!-- generated: ", "<!-- /generated -->"
REGION = re.compile(
    rf"(?P<head>{OPENING}(?P<name>[a-z-]+) -->\n)(?P<body>.*?)(?P<tail>{CLOSING})", re.DOTALL
)

Generators = Mapping[str, Callable[[], str]]


class RegionRefused(Exception):
    """A region that is not closed, or that no generator makes."""


# -- what is generated -----------------------------------------------------------------------


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; a `|` within a cell is escaped."""
    heads = list(heads)
    return "".join(map(table_row, [heads, ["---"] * len(heads), *rows]))


def table_row(cells: Iterable[object]) -> str:
    """A line of a table."""
    return "| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |\n"


def code(text: str) -> str:
    return f"`{text}`"


def errors() -> list[type[ResumeproofError]]:
    """Every leaf, by exit status, in the order of their declaration."""
    leaves = (error for error in vars(error_module).values() if isinstance(error, type))
    return sorted(
        (leaf for leaf in leaves if ResumeproofError in leaf.__bases__), key=lambda leaf: leaf.exit
    )


def exit_status_table() -> str:
    return table(
        ["exit", "meaning"], ((int(status), meaning) for status, meaning in EXIT_MEANING.items())
    )


def errors_table() -> str:
    return table(
        ["code", "exit", "facts", "message"],
        (
            (
                code(error.code),
                int(error.exit),
                ", ".join(map(code, error.fact_names)),
                error.template,
            )
            for error in errors()
        ),
    )


def statuses_table() -> str:
    return table(
        ["status", "meaning", "ends?"],
        ((code(status), MEANING[status], "yes" if status in ENDED else "") for status in Status),
    )


def transitions_table() -> str:
    return table(
        ["from", "event", "to"],
        (
            (code(status) if status else "(nothing)", code(event), code(after))
            for (status, event), after in TRANSITIONS.items()
        ),
    )


def receipt_table(kind: str) -> str:
    return table(["member", "what it says"], receipt_rows(kind))


def recovery_table() -> str:
    return table(
        ["what the journal says", "what the tool says or promises", "decision"],
        ((rule.journal, rule.tool, rule.decision) for rule in RULES),
    )


def findings_table() -> str:
    return table(
        ["finding", "the violated guarantee"],
        ((code(kind), guarantee) for kind, guarantee in GUARANTEE.items()),
    )


def crash_points_table(shape: Shape) -> str:
    return table(CRASH_POINT_HEADS, crash_point_rows(shape))


def kernels_table() -> str:
    return table(KERNEL_HEADS, kernel_rows())


def boundaries_table() -> str:
    return table(*boundaries_rows())


def promises_table() -> str:
    return table(*promises_rows())


def detection_table() -> str:
    """What the proof finds in subjects whose verdict is known."""
    tried = trials()
    return table(HEADS, map(detection_row, tried)) + detection_rates(tried)


def explore_table() -> str:
    """The explorer's examples, with the verdict that each must come to."""
    return table(EXPLORE_HEADS, example_rows())


def layers_table() -> str:
    """The layers of the import-linter contract, top first, as far as they are there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    # What is in parentheses may be there or not.
    return table(
        ["layer", "what it is for"],
        (
            (code(name), purpose(f"resumeproof.{name}"))
            for layer in layers
            for name in layer.split(" | ")
            if not name.startswith("(")
        ),
    )


def purpose(module: str) -> str:
    """The first line of a module's docstring."""
    return str(import_module(module).__doc__).partition("\n")[0]


def documents_table() -> str:
    """The members of what commands print for programs."""
    return table(["command", "members of its document"], documents_rows())


def command_pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Each command path that is not hidden, with its help page at 80 columns."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None, f"{name} is listed by {context.command_path} and not there"
            if not child.hidden:
                yield from command_pages(child, page_context(child, name, context))


def page_context(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    return click.Context(command, parent, name, terminal_width=80, max_content_width=80)


def help_pages() -> dict[str, str]:
    """The help page of every command of the command line, by its path."""
    return dict(command_pages(cli.main, page_context(cli.main, "resumeproof")))


def help_pages_text() -> str:
    return "\n".join(f"### {path}\n\n```text\n{page}\n```\n" for path, page in help_pages().items())


CRASH_POINTS: Generators = {
    f"crash-points-{name.replace('_', '-')}": partial(crash_points_table, shape)
    for name, shape in SHAPES.items()
}

GENERATORS: Generators = {
    **CRASH_POINTS,
    "boundaries": boundaries_table,
    "broken-kernels": kernels_table,
    "demo-timeline": demo_timeline,
    "detection": detection_table,
    "device-model": device_rules,
    "documents": documents_table,
    "errors": errors_table,
    "exit-status": exit_status_table,
    "explore-examples": explore_table,
    "findings": findings_table,
    "help-pages": help_pages_text,
    "layers": layers_table,
    "promises": promises_table,
    "proof-receipt": partial(receipt_table, "conform"),
    "receipt": partial(receipt_table, "demo"),
    "recovery": recovery_table,
    "statuses": statuses_table,
    "transitions": transitions_table,
    "workflow": workflow_json,
}

SLOW_REGIONS = frozenset({"broken-kernels", "detection", *CRASH_POINTS})
"""Made by killing very many processes."""

RECORDED_REGIONS = frozenset({"detection"})
"""Made of what strace records, among other things."""


# -- where it stands -------------------------------------------------------------------------


def refreshed(
    text: str, generators: Generators, left_out: Collection[str] = ()
) -> tuple[str, list[str]]:
    """The text with every region made anew, and the names of those that were stale.

    Regions that are `left_out` are taken as they are.

    Raises `RegionRefused` for a region that is not closed or that no generator makes.
    """
    stale = []

    def fill(region: re.Match[str]) -> str:
        name, body = region["name"], region["body"]
        if OPENING in body:
            raise RegionRefused(f"region {name!r} is not closed")
        if name not in generators:
            raise RegionRefused(f"no generator makes region {name!r}")
        made = body if name in left_out else generators[name]()
        if body != made:
            stale.append(name)
        return region["head"] + made + region["tail"]

    new, count = REGION.subn(fill, text)
    if not count == text.count(OPENING) == text.count(CLOSING):
        raise RegionRefused("a region is not opened, named or closed")
    return new, stale


def documents(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def standing(name: str) -> str:
    """What stands in the one region of that name."""
    texts = (path.read_text(encoding="utf-8") for path in documents(ROOT))
    (body,) = (
        region["body"]
        for text in texts
        for region in REGION.finditer(text)
        if region["name"] == name
    )
    return body


def main(arguments: list[str], *, root: Path = ROOT) -> int:
    """Refresh or check every document, and return the exit status."""
    parser = argparse.ArgumentParser(prog="regenerate-docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, name what is stale")
    parser.add_argument(
        "--quick", action="store_true", help="leave out what takes very many processes"
    )
    given = parser.parse_args(arguments)
    check = given.check
    left_out = set(SLOW_REGIONS) if given.quick else set()
    if shutil.which("strace") is None:
        left_out |= RECORDED_REGIONS
    exit_status = 0
    for path in documents(root):
        name = path.relative_to(root)
        old = path.read_text(encoding="utf-8")
        try:
            new, stale = refreshed(old, GENERATORS, left_out)
        except RegionRefused as refused:
            print(f"{name}: {refused}", file=sys.stderr)
            exit_status = 1
            continue
        for region in stale:
            print(f"{name}: region {region!r} is stale" if check else f"{name}: {region}")
        if check:
            exit_status = exit_status or int(bool(stale))
        elif stale:
            path.write_text(new, encoding="utf-8")
    return exit_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Generated regions: refreshed where they are stale, and refused where they are malformed."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

import docs_regions

GENERATORS = {"one": lambda: "1\n", "two": lambda: "2\n"}
FRESH = "before\n<!-- generated: one -->\n1\n<!-- /generated -->\nafter\n"
STALE = FRESH.replace("1", "stale")


def test_a_stale_region_is_named_and_made_anew() -> None:
    assert docs_regions.refreshed(STALE, GENERATORS) == (FRESH, ["one"])


def test_a_fresh_region_is_left_alone() -> None:
    assert docs_regions.refreshed(FRESH, GENERATORS) == (FRESH, [])


def test_each_region_is_compared_on_its_own() -> None:
    text = FRESH + FRESH.replace("one", "two")
    assert docs_regions.refreshed(text, GENERATORS) == (
        FRESH + FRESH.replace("one", "two").replace("1", "2"),
        ["two"],
    )


MALFORMED = {
    "not closed": ("<!-- generated: one -->\n1\n", "not opened, named or closed"),
    "not closed before the next": ("<!-- generated: one -->\n" + FRESH, "'one' is not closed"),
    "not opened": ("1\n<!-- /generated -->\n", "not opened, named or closed"),
    "no such generator": (FRESH.replace("one", "three"), "no generator makes region 'three'"),
    "no name": (FRESH.replace("one ", ""), "not opened, named or closed"),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_region_is_refused(text: str, reason: str) -> None:
    with pytest.raises(docs_regions.RegionRefused, match=reason):
        docs_regions.refreshed(text, GENERATORS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Title\n")
    (tmp_path / "docs" / "cli.md").write_text(
        "<!-- generated: exit-status -->\n<!-- /generated -->\n"
    )
    return tmp_path


def test_the_check_names_the_stale_region_and_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (root / "docs" / "cli.md").read_text()
    assert docs_regions.main(["--check"], root=root) == 1
    assert capsys.readouterr().out == "docs/cli.md: region 'exit-status' is stale\n"
    assert (root / "docs" / "cli.md").read_text() == before


def test_what_was_refreshed_passes_the_check(root: Path) -> None:
    assert docs_regions.main([], root=root) == 0
    assert docs_regions.main(["--check"], root=root) == 0


def test_a_malformed_document_fails_by_name(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "README.md").write_text("<!-- generated: nonsense -->\n<!-- /generated -->\n")
    assert docs_regions.main([], root=root) == 1
    assert capsys.readouterr().err == "README.md: no generator makes region 'nonsense'\n"


# The others are held against the documents by `scripts/test` itself.
@pytest.mark.parametrize("name", sorted(docs_regions.GENERATORS.keys() - docs_regions.SLOW_REGIONS))
def test_every_generator_makes_whole_lines(name: str) -> None:
    made = docs_regions.GENERATORS[name]()
    assert (made.count("\n") > 2, made.endswith("\n")) == (True, True)


def test_a_cell_cannot_break_its_row() -> None:
    assert docs_regions.table(["a"], [["b|c"]]) == "| a |\n| --- |\n| b\\|c |\n"


def test_help_pages_are_of_every_command_that_is_not_hidden() -> None:
    group = click.Group("top")
    group.add_command(click.Command("shown"))
    group.add_command(click.Command("concealed", hidden=True))
    inner = click.Group("inner", commands=[click.Command("deep")])
    group.add_command(inner)
    context = docs_regions.page_context(group, "top")
    pages = dict(docs_regions.command_pages(group, context))
    assert list(pages) == ["top", "top inner", "top inner deep", "top shown"]
    assert pages["top inner deep"].startswith("Usage: top inner deep [OPTIONS]")

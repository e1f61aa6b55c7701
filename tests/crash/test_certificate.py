"""The certificate: a run in which something that was enumerated did not happen fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HAPPENED = {"judged": 1, "fired": 2, "verified": 2, "unreached": 1}

TESTS = """
import pytest

class Scenario:
    reached = (True, True, False)

@pytest.mark.parametrize("scenario", [Scenario()] * 3)
def test_it(scenario, record_property, request):
    happened = {happened}
    if request.node.callspec.id != "scenario0":
        happened = {others}
    {before}
    record_property("scenario", happened)
"""


def ended(
    directory: Path, *words: str, others: dict[str, int] | None = None, before: str = "pass"
) -> tuple[int, list[str]]:
    """Exit status and certificate of a run in which two scenarios of three differ."""
    text = TESTS.format(happened=HAPPENED, others=others or HAPPENED, before=before)
    (directory / "test_it.py").write_text(text)
    plugins = ("-p", "tests.crash.certificate", "-p", "xdist", "-p", "no:cacheprovider")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, f"--rootdir={directory}", *words],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    told = ran.stdout.partition(" certificate ")[2].splitlines()[1:]
    return ran.returncode, [line for line in told if line and "=" not in line[:1]]


WHOLE = [
    "scenarios: enumerated 3 = judged 3",
    "crash points: enumerated 6 = kills fired 6 = kills verified 6",
    "out of reach: enumerated 3 = unreached 3",
]


@pytest.mark.parametrize("words", [("-n", "0"), ("-n", "2")], ids=["one process", "workers"])
def test_what_adds_up_passes(words: tuple[str, ...], tmp_path: Path) -> None:
    assert ended(tmp_path, *words) == (0, WHOLE)


def test_what_was_deselected_was_not_enumerated(tmp_path: Path) -> None:
    assert ended(tmp_path, "-n", "0", "-k", "scenario0") == (
        0,
        [
            "scenarios: enumerated 1 = judged 1",
            "crash points: enumerated 2 = kills fired 2 = kills verified 2",
            "out of reach: enumerated 1 = unreached 1",
        ],
    )


SHORT = {
    "a kill that was not verified": ({**HAPPENED, "verified": 0}, "pass"),
    "a kill that never fired": ({**HAPPENED, "fired": 1, "verified": 1, "unreached": 2}, "pass"),
    "a scenario that was skipped": (HAPPENED, "pytest.skip()"),
}


@pytest.mark.parametrize(("others", "before"), SHORT.values(), ids=SHORT)
def test_what_does_not_add_up_fails(others: dict[str, int], before: str, tmp_path: Path) -> None:
    short(tmp_path, "-n", "0", others=others, before=before)


def test_what_does_not_add_up_fails_with_workers(tmp_path: Path) -> None:
    others, before = SHORT["a kill that was not verified"]
    short(tmp_path, "-n", "2", others=others, before=before)


def short(directory: Path, *words: str, others: dict[str, int], before: str) -> None:
    status, told = ended(directory, *words, others=others, before=before)
    assert (status, told[-1], told[:-1] != WHOLE) == (1, "the certificate does not add up", True)

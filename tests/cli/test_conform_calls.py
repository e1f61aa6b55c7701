"""`conform --at calls`: what it finds, its replay, its refusals; and that it needs no rights."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.agents import lay_out
from tests.cli.desk import Desk
from tests.cli.test_explore_users import public, python, run_as_nobody
from tests.crash.syscalls.programs import needs_strace

__all__ = ["public", "python"]

AGENT = """
from agent import Mended

class Ledgered(Mended):
    def charge(self, job):
        super().charge(job)
        with open(self.ctx.directory / "ledger.txt", "a") as ledger:
            ledger.write(f"paid {job}\\n")

    def step(self, job):
        self.ctx.directory.joinpath("agent.log").write_text("at work")
        if job not in self.done:
            self.charge(job)
            self.done.append(job)
            beside = self.file.with_suffix(".tmp")
            beside.write_text(__import__("json").dumps(self.done))
            beside.replace(self.file)
"""
LEDGERED = ("conform", "ledgered:Ledgered", "--input", "one", "--at", "calls")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk at which somebody's agents lie."""
    path = tmp_path / "desk"
    path.mkdir()
    lay_out(path)
    (path / "ledgered.py").write_text(AGENT)
    return Desk(path)


@needs_strace
def test_a_ledger_in_a_file_is_found_written_to_twice_and_replayed(desk: Desk) -> None:
    ran = desk.call(*LEDGERED, "--ignore", "*.log", "--report", "evidence", "--format", "text")
    assert (ran.status, ran.stderr) == (1, "")
    assert "ledger.txt holds the line 'paid one' 2 time(s), 1 without a crash" in ran.stdout
    (replay, *_) = [line for line in ran.stdout.splitlines() if "replay: " in line]
    words = shlex.split(replay.partition("replay: ")[2])
    assert words[words.index("--at") :][:4] == ["--at", "calls", "--ignore", "*.log"]
    alone = desk.call(*words[words.index("conform") :])
    assert alone.status == 1
    assert {each["plan"] for each in alone.document["findings"]} == {words[-1]}
    terms = json.loads((desk.path / "evidence" / "receipt.json").read_text())["proofs"][0]["terms"]
    assert (terms["at"], terms["ignored"]) == ("calls", ["*.log"])
    assert desk.call("verify", "evidence").status == 0


def test_the_same_passes_at_its_effects(desk: Desk) -> None:
    assert desk.done("conform", "ledgered:Ledgered", "--input", "one")["passed"] is True


REFUSED = {
    "nothing is compared": (("--ignore", "*.log"), "--ignore goes with --at calls only"),
    "sides": (("--at", "calls", "--when", "after"), "--when says nothing beside --at calls"),
}


@pytest.mark.parametrize(("words", "told"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_go_together_is_refused(
    words: tuple[str, ...], told: str, desk: Desk
) -> None:
    ran = desk.call("conform", "agent:Mended", "--input", "one", *words)
    assert (ran.status, told in ran.stderr) == (2, True), ran


def test_without_strace_one_line_says_how_to_get_it(desk: Desk) -> None:
    ran = desk.call(*LEDGERED, env={"PATH": str(desk.path)})
    assert ran.refusal == (2, "strace_missing", 1, True)


@needs_strace
def test_an_ordinary_user_proves_at_calls_and_confirms(public: Path, python: str) -> None:
    lay_out(public)
    (public / "ledgered.py").write_text(AGENT)
    ran = run_as_nobody(public, python, "-m", "resumeproof", *LEDGERED, "--no-shrink")
    details = [each["detail"] for each in json.loads(ran.stdout)["findings"]]
    assert (ran.returncode, bool(details)) == (1, True), ran
    assert all("; confirmed: a life was killed there" in each for each in details)

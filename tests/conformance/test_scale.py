"""Proofs of many deaths: each kill is verified, nothing is left, and what is shared may be."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import pytest

from resumeproof import Context, conform
from resumeproof.domain.conformance import Certificate
from tests.conformance.agents import Careful, Stateless


class Appending:
    """Asks the receiver once, and appends to a file what is done: each step costs the same."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.file = ctx.directory / "done"
        self.done = set(self.file.read_text().split()) if self.file.exists() else set()
        self.sent = set(ctx.effects.keys())

    def step(self, item: int) -> None:
        if str(item) in self.done:
            return
        if str(item) not in self.sent:
            self.ctx.effect("charge", item, key=str(item))
        with self.file.open("a") as file:
            file.write(f"{item}\n")
        self.done.add(str(item))

    def state(self) -> list[str]:
        return sorted(self.done)


@pytest.mark.parametrize(
    ("effects", "depth", "certificate"),
    [
        pytest.param(30, 1, Certificate(60, 60, 60, 60, 60, 60, 60), id="30 effects"),
        pytest.param(5, 2, Certificate(60, 60, 60, 60, 10, 10, 40), id="depth 2"),
        # More of the same.
        pytest.param(
            100,
            1,
            Certificate(200, 200, 200, 200, 200, 200, 200),
            id="100 effects",
            marks=pytest.mark.campaign,
        ),
        pytest.param(
            10,
            2,
            Certificate(220, 220, 220, 220, 20, 20, 130),
            id="10 effects, depth 2",
            marks=pytest.mark.campaign,
        ),
    ],
)
def test_all_kills_are_verified_and_nothing_is_left(
    effects: int, depth: int, certificate: Certificate, tmp_path: Path
) -> None:
    reader, writer = os.pipe()
    try:
        report = conform(
            Appending, range(effects), isolation="process", depth=depth, directory=tmp_path
        )
    finally:
        os.close(writer)
    os.set_blocking(reader, False)
    held_by_nobody = os.read(reader, 1) == b""
    os.close(reader)
    print(report)
    assert (report.passed, report.shared_prefixes, report.certificate) == (
        True,
        True,
        certificate,
    )
    assert (held_by_nobody, list(tmp_path.iterdir())) == (True, [])


# -- where a prefix cannot be shared -----------------------------------------------------------


class Stamping(Careful):
    """Writes down what differs between any two lives, and never looks at it again."""

    def save(self) -> None:
        (self.ctx.directory / "stamp").write_text(f"{os.getpid()}")
        super().save()


class Exclusive(Careful):
    """Does not start while the process that wrote its number down is alive."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        owner = ctx.directory / "owner"
        if owner.exists() and _is_alive(int(owner.read_text())):
            raise RuntimeError("another one is at work")
        owner.write_text(f"{os.getpid()}")

    def state(self) -> Any:
        (self.ctx.directory / "owner").unlink()
        return super().state()


def _is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


class Counting(Stateless):
    """Writes down whether it has ever had a child process, which no agent would do."""

    def save(self) -> None:
        had_one = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt > 0
        (self.ctx.directory / "children").write_text(str(had_one))
        super().save()


SHARED = {
    "nothing but what no two lives share": (Stamping, None),
    "its resume asks if it still lives": (
        Exclusive,
        "one that is run only to its death is resumed otherwise",
    ),
    "it writes down what only a life that stands would": (
        Counting,
        "one that is run only to its death leaves another /children",
    ),
}


@pytest.mark.parametrize(("agent", "reason"), SHARED.values(), ids=SHARED)
def test_prefixes_are_shared_unless_a_life_of_its_own_shows_something_else(
    agent: type, reason: str | None
) -> None:
    report = conform(agent, ["a", "b", "c"], isolation="process")
    line = f"  each life was run from its beginning: {reason}"
    assert (
        report.passed,
        report.certificate.judged,
        report.shared_prefixes,
        report.unshareable,
        line in str(report).splitlines(),
    ) == (True, 6, reason is None, reason, reason is not None), str(report)

"""Random lives on real stores, with real kills, come at each step to what the pure model says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, given, seed, settings

from resumeproof.crash.kill import Kill
from tests.model.host import BUGS
from tests.model.life import Boundary
from tests.model.operations import LIVED_KINDS, Model, Resume, Script, Seen, Wait, scripts
from tests.model.reality import Host, Reality

MEMORY = Path("/dev/shm")  # a killed process loses nothing that it wrote: no verdict changes

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="lives are forked"),
    # Room to make a divergence small, before it is reported.
    pytest.mark.timeout(900),
]

Record = Callable[[str, object], None]


class Divergence(AssertionError):
    """What the stores show after this script is not what the model shows."""

    def __init__(self, script: Script, real: Seen, expected: Seen) -> None:
        super().__init__(f"after {script}\n real: {real}\nmodel: {expected}")
        self.script = script


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host() as host:
        yield host


def compare(kind: str, script: Script, host: Host) -> None:
    """Carry out a script in both worlds at once. Raises `Divergence` at the first difference."""
    parent = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=parent, prefix="resumeproof-") as name:
        model = Model(LIVED_KINDS[kind], script)
        reality = Reality(LIVED_KINDS[kind], script, Path(name), host)
        for number, operation in enumerate(script.operations, start=1):
            real, expected = reality.after(operation), model.after(operation)
            if real != expected:
                so_far = script._replace(operations=script.operations[:number])
                raise Divergence(so_far, real, expected)


def lives(
    kind: str, host: Host, chosen: settings, drawn_by: int | None = None
) -> Callable[[], None]:
    """Compare as many examples as the settings say; no two kinds live the same ones.

    `drawn_by` is the seed of those that are the same each time, if not the kind's name.
    """

    @settings(chosen, database=None)
    @given(script=scripts(LIVED_KINDS[kind]))
    def live(script: Script) -> None:
        compare(kind, script, host)

    return seed(kind if drawn_by is None else drawn_by)(live) if chosen.derandomize else live


IN_THE_GATE = 8
"""Examples of each kind; the campaign has as many as its profile says, among all of them."""


def agree(kind: str, host: Host, record_property: Record, examples: int) -> None:
    host.kills.clear()
    lives(kind, host, settings(max_examples=examples))()
    record_property("kills", dict(host.kills))
    # Lives of which few died would say little of deaths.
    assert host.kills.total() > examples // 2


@pytest.mark.parametrize("kind", LIVED_KINDS)
def test_real_kills_come_to_what_the_model_says(
    kind: str, host: Host, record_property: Record
) -> None:
    agree(kind, host, record_property, IN_THE_GATE)


@pytest.mark.campaign
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", LIVED_KINDS)
def test_many_real_kills_come_to_what_the_model_says(
    kind: str, host: Host, record_property: Record
) -> None:
    agree(kind, host, record_property, settings().max_examples // len(LIVED_KINDS))


RARE = "key_life_from_last_claim"
"""Of the bugs the one that few scripts show."""


def test_a_bug_that_is_rarely_met_is_a_divergence(host: Host) -> None:
    # From the first claim on the key's life is over, and from the last it is not.
    script = Script(
        max_retries=3,
        max_recoveries=3,
        fail_before=0,
        operations=(
            Resume(crash_at=Boundary.CLAIM_AFTER),
            Wait(ticks=1),
            Resume(crash_at=Boundary.TOOL_AFTER, kill=Kill.SIGKILL),
            Wait(ticks=1),
            Resume(),
        ),
    )
    with Host(RARE) as broken, pytest.raises(Divergence):
        compare("key_lifetime", script, broken)
    compare("key_lifetime", script, host)


@pytest.mark.parametrize(
    ("bug", "kind", "drawn_by"),
    [
        pytest.param(RARE, "key_lifetime", 5, marks=pytest.mark.campaign),
        ("doubt_cleared_by_later_failure", "idempotent", 1),
        ("unfenced_absence_trusted", "eventual", 1),
        ("kill_never_fires", "none", 1),
    ],
    ids=BUGS,
)
def test_a_bug_put_back_is_met_by_random_lives(
    bug: str, kind: str, drawn_by: int, host: Host
) -> None:
    until_found = settings(
        max_examples=1_000, derandomize=True, phases=[Phase.generate], print_blob=False
    )
    with Host(bug) as broken, pytest.raises(Divergence) as found:
        lives(kind, broken, until_found, drawn_by)()
    # The bug and nothing else is the reason.
    compare(kind, found.value.script, host)

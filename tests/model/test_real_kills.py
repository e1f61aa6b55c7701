"""Random lives on real stores, with real kills, come at each step to what the pure model says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, given, seed, settings

from tests.model.host import BUGS
from tests.model.operations import LIVED_KINDS, Model, Script, Seen, scripts
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


def lives(kind: str, host: Host, chosen: settings) -> Callable[[], None]:
    """Compare as many examples as the settings say; no two kinds live the same ones."""

    @settings(chosen, database=None)
    @given(script=scripts(LIVED_KINDS[kind]))
    def live(script: Script) -> None:
        compare(kind, script, host)

    return seed(kind)(live) if chosen.derandomize else live


def agree(kind: str, host: Host, record_property: Record) -> None:
    host.kills.clear()
    examples = settings().max_examples // len(LIVED_KINDS)
    lives(kind, host, settings(max_examples=examples))()
    record_property("kills", dict(host.kills))
    # Lives of which few died would say little of deaths.
    assert host.kills.total() > examples // 2


@pytest.mark.parametrize("kind", LIVED_KINDS)
def test_real_kills_come_to_what_the_model_says(
    kind: str, host: Host, record_property: Record
) -> None:
    agree(kind, host, record_property)


@pytest.mark.campaign
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", LIVED_KINDS)
def test_many_real_kills_come_to_what_the_model_says(
    kind: str, host: Host, record_property: Record
) -> None:
    agree(kind, host, record_property)


@pytest.mark.parametrize(
    ("bug", "kind"),
    [
        ("key_life_from_last_claim", "key_lifetime"),
        ("doubt_cleared_by_later_failure", "idempotent"),
        ("unfenced_absence_trusted", "eventual"),
        ("kill_never_fires", "none"),
    ],
    ids=BUGS,
)
def test_a_bug_put_back_is_a_divergence(bug: str, kind: str, host: Host) -> None:
    until_found = settings(
        max_examples=1_000, derandomize=True, phases=[Phase.generate], print_blob=False
    )
    with Host(bug) as broken, pytest.raises(Divergence) as found:
        lives(kind, broken, until_found)()
    # The bug and nothing else is the reason.
    compare(kind, found.value.script, host)

from __future__ import annotations

import re

import pytest

from resumeproof.runtime.identity import Identity, RandomIdentity, SeededIdentity

SOURCES = [
    pytest.param(RandomIdentity(), id="random"),
    pytest.param(SeededIdentity("seed"), id="seeded"),
]


@pytest.mark.parametrize("identity", SOURCES)
def test_an_id_is_its_prefix_and_32_hex_digits(identity: Identity) -> None:
    assert re.fullmatch("wf_[0-9a-f]{32}", identity.new_id("wf"))


@pytest.mark.parametrize("identity", SOURCES)
def test_ids_do_not_repeat(identity: Identity) -> None:
    assert len({identity.new_id("wf") for _ in range(1_000)}) == 1_000


@pytest.mark.parametrize("identity", SOURCES)
def test_jitter_fills_the_half_open_unit_interval(identity: Identity) -> None:
    drawn = [identity.jitter() for _ in range(1_000)]
    # Each tenth of it is missed by 1,000 draws with a chance of 0.9 ** 1000, or 1e-46.
    assert (min(drawn) >= 0, max(drawn) < 1) == (True, True)
    assert {int(jitter * 10) for jitter in drawn} == set(range(10))


def test_the_highest_draw_stays_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda size: b"\xff" * size)
    assert RandomIdentity().jitter() == 1 - 2.0**-53


def test_a_seed_gives_the_same_again() -> None:
    # Written down, since demo-output/ rests on them.
    identity = SeededIdentity("seed")
    assert (identity.new_id("wf"), identity.new_id("driver"), identity.jitter()) == (
        "wf_cceb04fcd1bb5500cd85b4b419d8d4fd",
        "driver_72cabd1323f0f0094bb5e57695dc5642",
        0.004490233465137106,
    )


def test_ids_do_not_depend_on_how_much_jitter_was_drawn() -> None:
    plain, jittery = SeededIdentity("seed"), SeededIdentity("seed")
    jittery.jitter()
    assert jittery.new_id("wf") == plain.new_id("wf")


def test_jitter_does_not_depend_on_how_many_ids_were_drawn() -> None:
    plain, named = SeededIdentity("seed"), SeededIdentity("seed")
    named.new_id("wf")
    assert named.jitter() == plain.jitter()


def test_seeds_differ_in_every_draw() -> None:
    drawn = [SeededIdentity(seed) for seed in ("", "1", ":1", "seed", "seed2")]
    assert len({identity.new_id("wf") for identity in drawn}) == len(drawn)
    assert len({identity.jitter() for identity in drawn}) == len(drawn)

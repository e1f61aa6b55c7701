"""What holds for every recording, looked at through random ones."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.cut import cut_at, cuts
from resumeproof.crash.syscalls.order import count_prefixes
from resumeproof.crash.syscalls.power import PowerLoss
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.crash.syscalls.ways import Ways
from tests.unit.crash.syscalls.drawn import FILES, origin, programs
from tests.unit.crash.syscalls.recordings import recording, tree

SECTOR = 512


def replayed(made: op.Recording, origin: Tree, ordinal: int) -> Tree:
    found = origin.clone()
    for call in made.calls[:ordinal]:
        found.apply(call.operation)
    return found


@given(programs())
def test_with_nothing_lost_a_power_cut_is_a_kill(made: op.Recording) -> None:
    for ordinal in range(len(made.calls) + 1):
        cut = cut_at(made, origin(), ordinal, in_flight=False, domain=None)
        assert cut.build(()).digest() == replayed(made, origin(), ordinal).digest()


@given(programs())
def test_a_cut_counts_the_ways_that_it_yields_each_once_and_each_allowed(
    made: op.Recording,
) -> None:
    for cut in cuts(made, origin()):
        ways = [losses for losses, _ in cut.losses()]
        assert len(ways) == len(set(ways)) == Ways(cut.pending).count()
        assert all(cut.allows(losses) for losses in ways)
        assert () in ways


@given(programs())
def test_what_is_said_to_repeat_a_way_before_it_does(made: op.Recording) -> None:
    for cut in cuts(made, origin()):
        seen: set[str] = set()
        for losses, repeats in cut.losses():
            digest = cut.build(losses).digest()
            assert not repeats or digest in seen
            seen.add(digest)


@given(programs())
def test_every_state_is_found_again_by_its_plan_alone(made: op.Recording) -> None:
    power = PowerLoss(made, origin(), 5_000)
    for state, found in power:
        assert power.state(state.point) == state
        assert power.tree(state).digest() == found.digest()


@given(programs())
def test_every_moment_of_a_power_cut_is_covered_by_the_moments_that_are_looked_at(
    made: op.Recording,
) -> None:
    """Whatever can be left after any call is also a kill's, or one of the states yielded."""
    power = PowerLoss(made, origin(), 100_000)
    looked_at = {found.digest() for _, found in power}
    assert power.untried == 0
    looked_at |= {replayed(made, origin(), n).digest() for n in range(len(made.calls) + 1)}
    for ordinal in range(len(made.calls) + 1):
        cut = cut_at(made, origin(), ordinal, in_flight=False, domain=None)
        for losses, _ in cut.losses():
            assert cut.build(losses).digest() in looked_at


@given(programs(), programs())
def test_what_was_all_synced_is_there_after_every_later_cut(
    first: op.Recording, second: op.Recording
) -> None:
    """The second program runs on a disk that has all of the first, whatever that had pending."""
    done = [call.operation for call in first.calls]
    begun = len(done) + 1
    after = replayed(first, origin(), len(done))
    if {name for _, name in after.names} != set(FILES) or any(
        after.number(name) != number for name, number in FILES.items()
    ):
        return  # the second program expects both files under their own names
    more = [call.operation for call in second.calls if not isinstance(call.operation, op.Create)]
    if len(more) != len(second.calls):
        return
    joined = recording(*done, op.SyncAll(), *more)
    alone = {found.digest() for _, found in PowerLoss(recording(*more), after, 20_000)}
    late = {
        found.digest()
        for state, found in PowerLoss(joined, origin(), 20_000)
        if state.ordinal > begun
    }
    killed = {replayed(joined, origin(), n).digest() for n in range(begun + 1)}
    assert late - killed <= alone


PLACES = st.lists(
    st.tuples(st.sampled_from(sorted(FILES)), st.integers(0, 3)), unique=True, max_size=5
)


@given(PLACES, st.lists(st.booleans(), min_size=5, max_size=5))
def test_of_writes_to_different_sectors_exactly_the_synced_ones_always_stay(
    places: list[tuple[str, int]], synced: list[bool]
) -> None:
    """Held against bare bytes: every subset of the writes that nothing made durable, no other."""
    old = b"o" * 4 * SECTOR
    writes: list[op.Operation] = [
        op.Write(FILES[name], name, SECTOR * place, b"n" * SECTOR, synchronous=stays)
        for (name, place), stays in zip(places, synced, strict=False)
    ]
    cut = cut_at(recording(*writes), tree(a=old, b=old), len(writes), in_flight=False, domain=None)
    expected = set()
    free = [place for place, stays in zip(places, synced, strict=False) if not stays]
    for size in range(len(free) + 1):
        for lost in combinations(free, size):
            files = {name: bytearray(old) for name in FILES}
            for name, place in places:
                if (name, place) not in lost:
                    files[name][SECTOR * place : SECTOR * (place + 1)] = b"n" * SECTOR
            expected.add(tree(**{name: bytes(data) for name, data in files.items()}).digest())

    assert {cut.build(losses).digest() for losses, _ in cut.losses()} == expected


ORDERS = st.lists(st.sets(st.integers(0, 5), max_size=3), max_size=7).map(
    lambda rows: {key: frozenset(n for n in row if n < key) for key, row in enumerate(rows)}
)


@given(ORDERS)
def test_the_subsets_of_an_order_are_counted_as_if_they_were_made(
    needs: dict[int, frozenset[int]],
) -> None:
    allowed = 0
    for chosen in product((False, True), repeat=len(needs)):
        kept = {key for key, keeps in zip(needs, chosen, strict=True) if keeps}
        allowed += all(needs[key] <= kept for key in kept)

    assert count_prefixes(needs) == allowed


def test_a_long_chain_is_counted_at_once() -> None:
    chain = {key: frozenset({key - 1} if key else ()) for key in range(400)}

    assert count_prefixes(chain) == 401

"""Whoever sees the same does the same: one run stands for many ways, and none is overlooked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.alike import Likeness
from resumeproof.crash.syscalls.cut import Cut, Losses, cuts
from resumeproof.crash.syscalls.observation import (
    Observation,
    SawBytes,
    SawName,
    SawNames,
    SawSize,
    Sight,
)
from resumeproof.crash.syscalls.search import Search
from resumeproof.crash.syscalls.tree import ROOT, Tree
from resumeproof.crash.syscalls.ways import KEPT, Demand, Ways, meets
from tests.unit.crash.syscalls.drawn import origin, programs
from tests.unit.crash.syscalls.recordings import recording, tree

NAMES = ("a", "b", "c", "d")
SPANS = st.tuples(st.integers(0, 1200), st.integers(1, 700)).map(lambda at: (at[0], sum(at)))
NUMBERS = st.sampled_from([1, 2, 3, 4])
SIGHTS: st.SearchStrategy[Sight] = st.one_of(
    st.builds(SawBytes, NUMBERS, SPANS),
    st.builds(SawSize, NUMBERS),
    st.builds(SawName, st.sampled_from([(ROOT, name) for name in NAMES])),
    st.just(SawNames(ROOT)),
)


def shown(sight: Sight, found: Tree) -> object:
    """What someone sees who looks there."""
    match sight:
        case SawBytes(number, (start, stop)):
            node = found.nodes.get(number)
            content = None if node is None else node.content
            return None if content is None else content.read(start, stop - start)
        case SawSize(number):
            node = found.nodes.get(number)
            content = None if node is None else node.content
            return None if content is None else content.size
        case SawName(name):
            return found.names.get(name)
        case SawNames(folder):
            return {name: number for name, number in found.names.items() if name[0] == folder}


def modes(found: Tree) -> dict[int, int]:
    return {number: node.mode for number, node in found.nodes.items()}


def ways_of(cut: Cut) -> list[Losses]:
    return [losses for losses, _ in cut.losses()]


def meets_all(ways: Ways, losses: Losses, demands: Sequence[Demand]) -> bool:
    return all(meets(ways.way_of(losses), demand) for demand in demands)


@given(programs(), st.lists(SIGHTS, max_size=4))
def test_ways_that_are_said_to_look_alike_do(made: op.Recording, sights: list[Sight]) -> None:
    for cut in cuts(made, origin()):
        ways, every = Ways(cut.pending), ways_of(cut)
        for losses in every[:: max(1, len(every) // 5)]:
            demands = Likeness(cut, ways).demands(losses, Observation(sights))
            assert meets_all(ways, losses, demands)
            found = cut.build(losses)
            for other in every:
                if meets_all(ways, other, demands):
                    built = cut.build(other)
                    assert [shown(one, built) for one in sights] == [
                        shown(one, found) for one in sights
                    ]
                    assert modes(built) == modes(found)


@pytest.mark.parametrize("span", [(200, 600), (0, 512), (512, 1024)])
def test_what_hangs_on_what_was_there_before_is_alike_only_with_it(span: tuple[int, int]) -> None:
    made = recording(
        op.Write(1, "a", 0, b"x" * 800),
        op.Truncate(1, "a", 300),
        op.Write(1, "a", 1100, b"y" * 100),
        op.Allocate(1, "a", 250, 300, True, True),
    )
    (cut,) = cuts(made, tree(a=b"a" * 1000))
    ways, every, sight = Ways(cut.pending), ways_of(cut), SawBytes(1, span)
    for losses in every:
        demands = Likeness(cut, ways).demands(losses, Observation([sight]))
        alike = [other for other in every if meets_all(ways, other, demands)]
        shows = {shown(sight, cut.build(other)) for other in alike}
        assert shows == {shown(sight, cut.build(losses))}


def test_a_set_with_alternatives_counts_each_way_once() -> None:
    made = recording(*(op.Write(1, "a", 512 * number, b"x" * 512) for number in range(4)))
    (cut,) = cuts(made, tree(a=b"a" * 2048))
    ways, every = Ways(cut.pending), ways_of(cut)
    either: Demand = ((0, KEPT), (1, KEPT))
    other: Demand = ((1, KEPT), (2, KEPT), (3, KEPT))
    pieces = list(ways.without(ways.every, [either, other, ((3, KEPT),)]))
    assert [ways.count(piece) for piece in pieces] == [4, 1, 5]
    assert [sum(piece.holds(ways.way_of(one)) for one in every) for piece in pieces] == [4, 1, 5]


@given(programs())
def test_what_nobody_can_say_is_alike_in_nothing_else(made: op.Recording) -> None:
    for cut in cuts(made, origin()):
        ways, every = Ways(cut.pending), ways_of(cut)
        demands = Likeness(cut, ways).demands(every[0], Observation((), opaque=True))
        assert [other for other in every if meets_all(ways, other, demands)] == [every[0]]


@given(programs(), st.data())
def test_a_set_falls_into_pieces_that_share_nothing_and_leave_nothing_out(
    made: op.Recording, data: st.DataObject
) -> None:
    for cut in cuts(made, origin()):
        ways, every = Ways(cut.pending), ways_of(cut)
        claims = st.tuples(st.integers(0, len(cut.pending) - 1), st.integers(1, 7))
        drawn = st.lists(st.lists(claims, min_size=1, max_size=3).map(tuple), max_size=4)
        demands: list[Demand] = data.draw(drawn)
        pieces = list(ways.without(ways.every, demands))
        for losses in every:
            holding = [piece for piece in pieces if piece.holds(ways.way_of(losses))]
            assert len(holding) == (not meets_all(ways, losses, demands))
        assert all(cut.allows(ways.pick(piece)) for piece in pieces)
        assert all(piece.holds(ways.way_of(ways.pick(piece))) for piece in pieces)
        counted = [sum(piece.holds(ways.way_of(losses)) for losses in every) for piece in pieces]
        assert counted == [ways.count(piece) for piece in pieces]


def reader(found: Tree) -> Iterator[tuple[Sight, object]]:
    """A program that goes by what it reads, as a recovery does."""

    def see(sight: Sight) -> Iterator[tuple[Sight, object]]:
        yield sight, shown(sight, found)

    for name in NAMES:
        yield from see(SawName((ROOT, name)))
        number = found.names.get((ROOT, name))
        node = None if number is None else found.nodes[number]
        if number is None or node is None or node.content is None:
            continue
        yield from see(SawSize(number))
        position = 0
        while position < node.content.size:
            stop = min(position + 300, node.content.size)
            yield from see(SawBytes(number, (position, stop)))
            if not node.content.read(position, stop - position).strip(b"\0"):
                break  # as a log ends where nothing was written
            position = stop


@given(programs())
def test_a_search_comes_to_all_that_a_program_can_see(made: op.Recording) -> None:
    for cut in cuts(made, origin()):
        search, seen, runs = Search(cut), set(), 0
        while candidates := search.candidates(50):
            for losses in candidates:
                sights = list(reader(cut.build(losses)))
                search.learn(losses, Observation([sight for sight, _ in sights]))
                seen.add(str(sights))
                runs += 1
        assert search.untried == 0
        assert {str(list(reader(cut.build(losses)))) for losses in ways_of(cut)} == seen


def test_a_log_that_is_read_up_to_its_first_hole_is_searched_in_few_runs() -> None:
    made = recording(*(op.Write(1, "a", 4096 * number, b"x" * 4096) for number in range(8)))
    (cut,) = cuts(made, tree(a=b""))
    search, runs = Search(cut), 0
    while candidates := search.candidates(1_000):
        for losses in candidates:
            sights = [sight for sight, _ in reader(cut.build(losses))]
            search.learn(losses, Observation(sights))
            runs += 1
    assert Ways(cut.pending).count() > 10**5
    assert search.untried == 0
    assert runs < 1_000

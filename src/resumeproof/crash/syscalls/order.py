"""Counts the subsets that a partial order allows, without making them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set


def count_prefixes(needs: Mapping[int, frozenset[int]]) -> int:
    """Return how many sets of keys there are that hold, with each key, all that it needs.

    >>> count_prefixes({1: frozenset(), 2: frozenset({1}), 3: frozenset()})
    6
    """
    users: dict[int, set[int]] = {key: set() for key in needs}
    for key, needed in needs.items():
        for one in needed & needs.keys():
            users[one].add(key)
    below = {key: needed & needs.keys() for key, needed in needs.items()}
    known: dict[frozenset[int], int] = {}

    def count(keys: frozenset[int]) -> int:
        # A product over what hangs together; there, one key is out with its users, or in with its
        # needs. One from the middle keeps the recursion flat.
        if keys not in known:
            product = 1
            for part in _parts(keys, below, users):
                pivot = sorted(part)[len(part) // 2]
                without = part - _reach(pivot, part, users)
                within = part - _reach(pivot, part, below)
                product *= count(without) + count(within)
            known[keys] = product
        return known[keys]

    return count(frozenset(needs))


def _parts(
    keys: frozenset[int], below: Mapping[int, Set[int]], above: Mapping[int, Set[int]]
) -> Iterator[frozenset[int]]:
    """Yield the keys that hang together, through whatever chain of needs."""
    rest = set(keys)
    while rest:
        part = set()
        waiting = [rest.pop()]
        while waiting:
            key = waiting.pop()
            part.add(key)
            near = (below[key] | above[key]) & rest
            rest -= near
            waiting += near
        yield frozenset(part)


def _reach(key: int, keys: frozenset[int], steps: Mapping[int, Set[int]]) -> frozenset[int]:
    """Return the key and all that is reached from it within `keys`."""
    found = {key}
    waiting = [key]
    while waiting:
        near = (steps[waiting.pop()] & keys) - found
        found |= near
        waiting += near
    return frozenset(found)

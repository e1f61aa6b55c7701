from __future__ import annotations

import pytest

from resumeproof.proof.store_subject import StoreSeen, at_any_prefix, when_done

ENDS = frozenset({"completed", "failed"})

DONE: dict[str, tuple[StoreSeen, list[str]]] = {
    "agreed": (StoreSeen(["resumed", "completed"], ["resumed", "completed"]), []),
    "the other end": (StoreSeen(["failed"], ["failed"]), []),
    "a record too few": (StoreSeen(["completed"], ["resumed", "completed"]), ["state_ahead"]),
    "a record too many": (
        StoreSeen(["resumed", "resumed", "completed"], ["resumed", "completed"]),
        ["record_ahead"],
    ),
    "a step that happens twice": (
        StoreSeen(["paid", "paid", "completed"], ["paid", "paid", "completed"]),
        [],
    ),
    "no end": (StoreSeen(["resumed"], ["resumed"]), ["terminal_missing"]),
    "an end that has no record": (
        StoreSeen(["resumed"], ["resumed", "completed"]),
        ["state_ahead", "terminal_missing"],
    ),
    "an end that is not saved": (
        StoreSeen(["resumed", "completed"], ["resumed"]),
        ["record_ahead"],
    ),
    "one end twice": (StoreSeen(["completed"] * 2, ["completed"]), ["terminal_repeated"]),
    "two ends": (StoreSeen(["completed", "failed"], ["completed"]), ["terminal_repeated"]),
}


@pytest.mark.parametrize(("seen", "kinds"), DONE.values(), ids=DONE)
def test_what_must_not_be_there_once_the_drivers_are_done(
    seen: StoreSeen, kinds: list[str]
) -> None:
    assert [str(violation.kind) for violation in when_done(seen, ENDS)] == kinds


PREFIX: dict[str, tuple[StoreSeen, list[str]]] = {
    "nothing": (StoreSeen([], []), []),
    "a record whose save is missing": (StoreSeen(["resumed"], []), []),
    "a state whose record is missing": (StoreSeen([], ["resumed"]), ["state_ahead"]),
}


@pytest.mark.parametrize(("seen", "kinds"), PREFIX.values(), ids=PREFIX)
def test_what_must_not_be_there_after_any_death(seen: StoreSeen, kinds: list[str]) -> None:
    assert [str(violation.kind) for violation in at_any_prefix(seen)] == kinds


def test_without_names_no_end_is_asked_for() -> None:
    assert list(when_done(StoreSeen(["paid"], ["paid"]), ())) == []

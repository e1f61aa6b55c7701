"""What must come of crashes, reckoned from the rules of docs/design.md and from nothing else.

`ONE_CRASH` is written down by hand. `reckon` follows any crash plan: what a life does is a *road*,
a row of commits and calls, and each of them can be died before or after. It knows the promise of
each contract and what a driver finds; it has never seen the code that decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from resumeproof.crash.plan import Boundary, CrashPlan


class Outcome(NamedTuple):
    """What the two stores say once nothing changes any more."""

    status: str
    reason: str | None
    effects: int
    invocations: int
    attempts: int
    retries: int
    recoveries: int


# -- one crash, by hand ----------------------------------------------------------------------

UNHARMED = Outcome("completed", None, effects=1, invocations=1, attempts=1, retries=0, recoveries=0)
"""Nothing was claimed yet, or all was acknowledged: the resume does everything, or nothing."""


def _unknown(effects: int) -> Outcome:
    """Nobody can tell; the tool was called by the dead driver or not at all."""
    return Outcome("unknown", "outcome_unknown", effects, effects, 1, 0, 1)


def _settled(*, invocations: int, attempts: int) -> Outcome:
    return Outcome("completed", None, 1, invocations, attempts, 0, 1)


def _in_doubt(not_called: Outcome, called: Outcome) -> Mapping[Boundary, Outcome]:
    """The four boundaries that a journal cannot tell apart, by what the tool knows of them."""
    return {
        Boundary.CLAIM_BEFORE: UNHARMED,
        Boundary.CLAIM_AFTER: not_called,
        Boundary.TOOL_BEFORE: not_called,
        Boundary.TOOL_AFTER: called,
        Boundary.ACK_BEFORE: called,
        Boundary.ACK_AFTER: UNHARMED,
    }


ONE_CRASH: Mapping[str, Mapping[Boundary, Outcome]] = {
    # Replayed with the same key; the second invocation is answered with the first receipt.
    "idempotent": _in_doubt(
        _settled(invocations=1, attempts=2), _settled(invocations=2, attempts=2)
    ),
    "none": _in_doubt(_unknown(effects=0), _unknown(effects=1)),
    # A lookup is an attempt and no invocation. Where it proves absence, a third attempt calls.
    "consistent": _in_doubt(
        _settled(invocations=1, attempts=3), _settled(invocations=1, attempts=2)
    ),
    # Asking claims nothing; what it finds is acknowledged, what it does not find proves nothing.
    "eventual": _in_doubt(_unknown(effects=0), _settled(invocations=1, attempts=1)),
    "expired": _in_doubt(_unknown(effects=0), _unknown(effects=1)),
}


# -- any number of crashes -------------------------------------------------------------------


@dataclass(frozen=True)
class Stores:
    """The two stores between two steps. `dead`: an attempt is open, and its driver is gone."""

    status: str = "approved"
    effects: int = 0
    invocations: int = 0
    attempts: int = 0
    recoveries: int = 0
    open_attempt: bool = False
    dead: bool = False
    in_doubt: bool = False

    def recovered(self) -> Stores:
        """Whoever writes next counts the dead attempt that it found, once."""
        return replace(self, recoveries=self.recoveries + self.dead, dead=False)


Step = tuple[str, Callable[[Stores], Stores]]


def _claim(*, calls: bool) -> Step:
    def commit(stores: Stores) -> Stores:
        found = stores.recovered()
        return replace(
            found,
            status="running",
            attempts=found.attempts + 1,
            open_attempt=True,
            in_doubt=found.in_doubt or calls,
        )

    return "claim", commit


def _ack(status: str, *, in_doubt: bool = False) -> Step:
    def commit(stores: Stores) -> Stores:
        found = stores.recovered()
        return replace(found, status=status, open_attempt=False, in_doubt=in_doubt)

    return "ack", commit


def _call(*, replays: bool) -> Step:
    def commit(stores: Stores) -> Stores:
        applied = not (replays and stores.effects)
        return replace(stores, invocations=stores.invocations + 1, effects=stores.effects + applied)

    return "tool", commit


LOOKUP: Step = ("tool", lambda stores: stores)


def road(contract: str, found: Stores) -> Sequence[Step]:
    """What a life that is left alone does with what it finds."""
    completed, unknown = _ack("completed"), _ack("unknown", in_doubt=True)
    calling = (_claim(calls=True), _call(replays=contract == "idempotent"), completed)
    if found.status in ("completed", "unknown"):
        return ()
    if not found.in_doubt:
        return calling
    looking = (_claim(calls=False), LOOKUP)
    match contract, bool(found.effects):
        case "idempotent", _:
            return calling
        case "consistent", True:
            return *looking, completed
        case "consistent", False:
            return *looking, _ack("running"), *calling
        case "eventual", True:
            return LOOKUP, completed
        case "eventual", False:
            return LOOKUP, unknown
        case _:
            return (unknown,)


def _die_at(point: str, steps: Sequence[Step], found: Stores) -> tuple[Stores, bool]:
    """Walk until the crash point; say whether the life came to it."""
    stores, passed = found, Counter[str]()

    def dies(boundary: str) -> bool:
        passed[boundary] += 1
        return f"{boundary}#{passed[boundary]}" == point

    for name, commit in steps:
        if dies(f"{name}:before"):
            break
        stores = commit(stores)
        if dies(f"{name}:after"):
            break
    else:
        return stores, False
    return replace(stores, dead=stores.open_attempt), True


class Reckoned(NamedTuple):
    """`reached` tells of each crash point of the plan whether a life comes to it."""

    outcome: Outcome
    reached: tuple[bool, ...]


def reckon(contract: str, plan: CrashPlan) -> Reckoned:
    """Follow a plan to its end, and the undisturbed lives after it."""
    stores, reached = Stores(), list[bool]()
    for point in (*map(str, plan.points), "nowhere"):
        steps = road(contract, stores)
        stores, died = _die_at(point, steps, stores)
        reached.append(died)
    outcome = Outcome(
        status=stores.status,
        reason="outcome_unknown" if stores.status == "unknown" else None,
        effects=stores.effects,
        invocations=stores.invocations,
        attempts=stores.attempts,
        retries=0,
        recoveries=stores.recoveries,
    )
    return Reckoned(outcome, tuple(reached[:-1]))

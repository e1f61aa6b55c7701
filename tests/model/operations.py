"""What can be done to one workflow, and what the pure model shows of it afterwards."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple, TypeAlias

from hypothesis import strategies as st

from resumeproof.crash.kill import Kill
from resumeproof.domain import decision as decisions
from resumeproof.domain import recovery
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.status import ENDED, Event, Status
from resumeproof.errors import InvalidTransition, NotYet, ResumeproofError
from tests.model import moves
from tests.model.contracts import KINDS, Kind
from tests.model.ledger import WORKFLOW_ID, instant
from tests.model.life import Boundary, Observed, observed, operator, resume
from tests.model.world import D1, D2, TICK_SECONDS, Scope, World, created

LIVED_KINDS = KINDS | {
    # A replay while the key lives, and a lookup that may not show it yet once it does not.
    "key_lifetime_eventual": Kind(
        ToolContract(
            "simulated",
            idempotent=True,
            key_lifetime_seconds=10,
            lookup=Lookup.EVENTUAL,
            lookup_lag_seconds=15,
        ),
        "key-1",
        3,
    ),
}


class Approve(NamedTuple):
    """An operator approves the action that is stored."""


class Replace(NamedTuple):
    """An operator replaces the action by the first or the second, which may be the same again."""

    action: int


class Cancel(NamedTuple):
    """An operator withdraws the workflow."""


class Reconcile(NamedTuple):
    """An operator decides on a workflow in doubt."""

    applied: bool


class Wait(NamedTuple):
    """Time passes; less than none where the clock is set back."""

    ticks: int


class Resume(NamedTuple):
    """A process resumes the workflow, and dies where it comes to `crash_at` for that time."""

    crash_at: Boundary | None = None
    occurrence: int = 1
    kill: Kill = Kill.EXIT86

    @property
    def point(self) -> str:
        return f"{self.crash_at}#{self.occurrence}"


Operation: TypeAlias = Approve | Replace | Cancel | Reconcile | Wait | Resume


class Script(NamedTuple):
    """The terms of one workflow, approved at first, and what is done to it."""

    max_retries: int
    max_recoveries: int
    fail_before: int
    operations: tuple[Operation, ...] = ()


class Seen(NamedTuple):
    """What there is to see after one operation; of a resume, also how its process ended.

    `refusal` is the code of the error that was raised, `returncode` the wait status as
    `subprocess` spells it, `witness` the crash point that the process wrote before it died.
    """

    observed: Observed
    in_doubt: bool
    acknowledgements: int
    refusal: str | None = None
    returncode: int | None = None
    witness: tuple[str, ...] = ()


class Model:
    """The pure model of one workflow, approved."""

    def __init__(self, kind: Kind, script: Script) -> None:
        self._scope = Scope(
            kind.contract,
            kind.key,
            locked=True,
            max_retries=script.max_retries,
            max_recoveries=script.max_recoveries,
        )
        self._fail_before = script.fail_before
        self._world = moves.approve(created(self._scope))

    @property
    def status(self) -> Status:
        return self._world.journal.workflow.status

    def crash_points(self) -> list[tuple[Boundary, int]]:
        """Where a process would come that resumed the workflow now."""
        return [
            (boundary, occurrence)
            for boundary, occurrence in product(Boundary, (1, 2))
            if self._resume(boundary, occurrence)[1]
        ]

    def after(self, operation: Operation) -> Seen:
        """Do it, and look."""
        match operation:
            case Wait(ticks):
                now_seconds = self._world.now_seconds + ticks * TICK_SECONDS
                self._world = self._world._replace(now_seconds=now_seconds)
                return self._seen()
            case Resume():
                return self._resumed(operation)
            case decision:
                return self._decided(decision)

    def _seen(self) -> Seen:
        journal = self._world.journal
        return Seen(observed(self._world), journal.workflow.in_doubt, len(journal.acknowledged))

    def _resume(self, crash_at: Boundary | None, occurrence: int) -> tuple[World, bool]:
        return resume(
            self._scope,
            self._world,
            crash_at=crash_at,
            occurrence=occurrence,
            fail_before=self._fail_before,
        )

    def _resumed(self, operation: Resume) -> Seen:
        before = self._world
        self._world, died = self._resume(operation.crash_at, operation.occurrence)
        if died:
            returncode = operation.kill.returncode
            return self._seen()._replace(returncode=returncode, witness=(operation.point,))
        refusal = _refusal(before, self._world)
        if refusal is None:
            return self._seen()._replace(returncode=0)
        return self._seen()._replace(refusal=refusal.code, returncode=int(refusal.exit))

    def _decided(self, decision: Approve | Replace | Cancel | Reconcile) -> Seen:
        try:
            world = _after_decision(self._world, decision)
        except InvalidTransition:
            world = None
        if world is None:
            return self._seen()._replace(refusal=InvalidTransition.code)
        self._world = world
        return self._seen()


def _after_decision(world: World, decision: Approve | Replace | Cancel | Reconcile) -> World | None:
    match decision:
        case Approve():
            return moves.approve(world)
        case Replace(action):
            return moves.replace_action(world, {1: D1, 2: D2}[action])
        case Cancel():
            return operator(world, Event.CANCELLED)
        case Reconcile(applied):
            return operator(
                world, Event.RECONCILED_APPLIED if applied else Event.RECONCILED_NOT_APPLIED
            )


def _refusal(before: World, after: World) -> ResumeproofError | type[ResumeproofError] | None:
    """What a process that was left alone was refused with at last, if it was refused."""
    workflow = after.journal.workflow
    if workflow.status is Status.UNKNOWN and after.journal != before.journal:
        # It ended with what it found out; only the next one is told that it comes too late.
        return None
    decision = recovery.decide(
        recovery.Facts(
            WORKFLOW_ID, workflow, None, after.journal.action, instant(after.now_seconds)
        )
    )
    match decision:
        case decisions.Return():
            return None
        case decisions.Refuse(error):
            return error
        case decisions.PeekEventually():
            # It looked, and nothing was settled.
            return NotYet
        case other:
            raise AssertionError(f"a process that was left alone did not {other}")


# -- by chance -------------------------------------------------------------------------------

_LENGTHS = st.integers(1, 10)
_KILLS = st.sampled_from(Kill)
_ANYWHERE = st.builds(
    Resume,
    crash_at=st.sampled_from([None, *Boundary]),
    occurrence=st.sampled_from([1, 2]),
    kill=_KILLS,
)
_RECONCILED = st.builds(Reconcile, applied=st.booleans())
_WAITS = st.builds(Wait, ticks=st.sampled_from([1, 1, 2, -1]))
_OTHERS = (
    st.just(Resume()),
    _ANYWHERE,
    _WAITS,
    st.one_of(
        _RECONCILED,
        st.just(Approve()),
        st.builds(Replace, action=st.sampled_from([1, 2])),
        st.just(Cancel()),
    ),
)


_LIKELY = 2 * len(_OTHERS)
"""How often what gets the workflow further is chosen, for once that something else is."""


@st.composite
def scripts(draw: st.DrawFn, kind: Kind) -> Script:
    """What is worth doing to a workflow of this kind: mostly to kill it where it can be killed."""
    script = Script(
        max_retries=draw(st.sampled_from([3, 2, 1])),
        max_recoveries=draw(st.sampled_from([5, 3, 2, 1])),
        fail_before=draw(st.sampled_from([0, 0, 1, 2, 4])),
    )
    model, operations = Model(kind, script), []
    for _ in range(max(draw(_LENGTHS), draw(_LENGTHS))):
        ended = model.status in ENDED
        likely = () if ended else (_likely(model),) * _LIKELY
        waits = (_WAITS,) * len(_OTHERS) if kind.ticks else ()
        operations.append(draw(draw(st.sampled_from(_OTHERS + waits + likely))))
        model.after(operations[-1])
        if ended:
            break
    return script._replace(operations=tuple(operations))


def _likely(model: Model) -> st.SearchStrategy[Operation]:
    """What gets a workflow further that has not ended."""
    if model.status is Status.PENDING_APPROVAL:
        return st.just(Approve())
    if model.status is Status.UNKNOWN:
        return _RECONCILED
    points = model.crash_points()
    return st.tuples(st.sampled_from(points), _KILLS).map(
        lambda drawn: Resume(*drawn[0], kill=drawn[1])
    )

"""The lab as a subject of its own proof: its driver dies at each of the six boundaries.

The workflow's result is its state. Where the driver marked it `unknown`, the state says so: an
honest doubt is what the proof asks for, and a needless one is counted.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from resumeproof.crash.calls import CountedCalls
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.plan import Boundary
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.status import Status
from resumeproof.domain.verdict import Violation
from resumeproof.errors import NotYet, ReconciliationRequired
from resumeproof.lab.judge import against_driver
from resumeproof.lab.life import watched
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME, LabSubject
from resumeproof.proof.agent import described, doubts_in
from resumeproof.proof.boundaries import BoundaryWatch
from resumeproof.proof.context import Unknown
from resumeproof.proof.ledgered import LedgeredRemains
from resumeproof.proof.living import Body, LifeOutcome, Order
from resumeproof.proof.living import Boundary as Place
from resumeproof.proof.payload import pack
from resumeproof.proof.shapes.judge import at_any_prefix
from resumeproof.runtime.operations import hold
from resumeproof.runtime.session import resume
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

_IN_DOUBT = frozenset(
    {Boundary.CLAIM_AFTER, Boundary.TOOL_BEFORE, Boundary.TOOL_AFTER, Boundary.ACK_BEFORE}
)
_COMMITS_BEFORE = MappingProxyType(
    {
        Boundary.CLAIM_BEFORE: 0,
        Boundary.CLAIM_AFTER: 1,
        Boundary.TOOL_BEFORE: 1,
        Boundary.TOOL_AFTER: 2,
        Boundary.ACK_BEFORE: 2,
        Boundary.ACK_AFTER: 3,
    }
)
"""How many commits of its attempt, in either store, an undisturbed life has made by then."""


class LivingLab:
    """A lab subject whose lives are forked."""

    def __init__(self, lab: LabSubject) -> None:
        self._lab = lab

    @property
    def contract(self) -> ToolContract:
        return self._lab.case.contract

    def lay_out(self, root: Path) -> None:
        self._lab.open(root)

    def body(self, order: Order) -> Body:
        return lambda channel: self._live(order, channel)

    def remains(self, root: Path) -> LedgeredRemains:
        return LedgeredRemains(root, LEDGER_NAME, unknowable=self._unknowable)

    def share_of(self, boundary: Place) -> int:
        """Deaths between two commits leave the same, and each attempt makes three."""
        name, occurrence = boundary
        return _COMMITS_BEFORE[Boundary(name)] + 3 * (occurrence - 1)

    def _unknowable(self, boundary: Place) -> str | None:
        """Between claim and acknowledgement a tool with neither key nor lookup tells nothing."""
        settled = self.contract.idempotent or self.contract.lookup is not Lookup.NONE
        return None if settled or boundary[0] not in _IN_DOUBT else self._lab.workflow_id

    def _live(self, order: Order, channel: LifeChannel) -> LifeOutcome:
        watch = BoundaryWatch(order, channel)
        raised, state = None, None
        try:
            if not order.only_reread:
                self._resume(order, watch)
            state = self._state(order.root)
        except BaseException as error:
            raised = described(error)
        violations: tuple[Violation, ...] = ()
        if order.only_reread or raised:
            violations = self._broken(order.root, at_last=raised is None)
        return LifeOutcome(
            raised=raised,
            refused=None,
            state=None if raised else pack(state, "state"),
            passed=tuple(watch.passed),
            doubts=tuple(doubts_in(state)),
            shareable=watch.shareable,
            violations=violations,
        )

    def _broken(self, root: Path, *, at_last: bool) -> tuple[Violation, ...]:
        """What the stores say against the driver; of one that raised, no end is asked for."""
        with (
            SqliteJournal.open_reader(root / JOURNAL_NAME) as journal,
            SqliteLedger.open_reader(root / LEDGER_NAME) as ledger,
        ):
            if not at_last:
                return tuple(at_any_prefix(journal))
            return tuple(against_driver(journal, ledger, _workflow_in(journal)))

    def _resume(self, order: Order, watch: BoundaryWatch) -> None:
        with SqliteJournal.open_reader(order.root / JOURNAL_NAME) as journal:
            workflow_id = _workflow_in(journal)
        try:
            resume(
                self._lab.site(order.root, order.life),
                workflow_id,
                watched(CountedCalls(watch.reach)),
            )
        except (ReconciliationRequired, NotYet):
            # Both are answers, and the state tells which.
            return

    def _state(self, root: Path) -> dict[str, object]:
        with SqliteJournal.open_reader(root / JOURNAL_NAME) as journal:
            workflow = hold(journal, _workflow_in(journal)).workflow
        if workflow.status is Status.UNKNOWN:
            return {"status": Unknown(workflow.key or workflow.id)}
        return {"status": str(workflow.status)}


def _workflow_in(journal: SqliteJournal) -> str:
    """The id of the one workflow of a lab's journal: a life knows nothing but what lies there."""
    (stored,) = journal.rows()
    return str(stored.row["id"])

"""Every exception that this package raises, and the exit status each one ends a command with.

An error is a fact sheet: its fields are its facts, its one-line message is made from them, and it
survives pickling, since it may be raised in one process and reported by another. A violated
guarantee is never an exception; it is a `resumeproof.domain.verdict.Finding`.
"""

from __future__ import annotations

import re
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, dataclass_transform


class Exit(IntEnum):
    """Exit statuses of the command line. Source: docs/cli.md, "Exit status"."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    REFUSED = 3
    IN_DOUBT = 4
    NOT_FOUND = 5
    BUSY = 6
    DAMAGED = 7
    CRASHED = 86
    INTERRUPTED = 130


EXIT_MEANING = MappingProxyType(
    {
        Exit.DONE: "done",
        Exit.FINDINGS: "findings: a guarantee was violated",
        Exit.USAGE: "usage, or an input file that is refused",
        Exit.REFUSED: (
            "refused by the state machine (approval, transition, conflict, changed program)"
        ),
        Exit.IN_DOUBT: "in doubt: reconciliation required",
        Exit.NOT_FOUND: "no such workflow, journal or ledger",
        Exit.BUSY: "another driver holds the journal, or not yet (`retry_at`, a wait)",
        Exit.DAMAGED: "a store or a receipt is damaged, or cannot be reached",
        Exit.CRASHED: "an injected crash",
        Exit.INTERRUPTED: "interrupted",
    }
)


@dataclass_transform(eq_default=False)
class ResumeproofError(Exception):
    """Base of all errors of this package. The annotated names of a leaf are its facts.

    `code` is the stable name for programs, `exit` the command's exit status and `template` the
    message for people, filled in from the facts. Leaves are made like dataclasses, and are none:
    every process life of a proof would pay for making so many.
    """

    code: ClassVar[str] = "resumeproof_error"
    exit: ClassVar[Exit] = Exit.USAGE
    template: ClassVar[str] = ""
    fact_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
        cls.fact_names = tuple(cls.__annotations__)

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(self.fact_names, values, strict=False)) | named
        if len(values) + len(named) != len(self.fact_names) or given.keys() != {*self.fact_names}:
            raise TypeError(f"{type(self).__name__} takes {self.fact_names}, not {given}")
        super().__init__(*(given[name] for name in self.fact_names))
        self.__dict__.update(given)

    @property
    def facts(self) -> dict[str, Any]:
        """The facts by name, in declaration order."""
        return {name: getattr(self, name) for name in self.fact_names}

    def __str__(self) -> str:
        return self.template.format(**self.facts)

    def __reduce__(self) -> tuple[type[ResumeproofError], tuple[Any, ...]]:
        return type(self), tuple(self.facts.values())


# -- input -----------------------------------------------------------------------------------


class ActionRefused(ResumeproofError):
    """An action's JSON text that is not accepted. `place` says where in the text or document."""

    exit = Exit.USAGE
    template = "action refused: {reason} ({place})"
    reason: str
    place: str


class UsageRefused(ResumeproofError):
    """A combination of options, or a path, that makes no sense."""

    exit = Exit.USAGE
    template = "{reason}"
    reason: str


class PlanRefused(ResumeproofError):
    """The text of a crash plan that cannot be read."""

    exit = Exit.USAGE
    template = "crash plan {text!r} refused: {reason}"
    text: str
    reason: str


class OutputNotEmpty(ResumeproofError):
    """Evidence is never overwritten: an output directory must be new or empty."""

    exit = Exit.USAGE
    template = "output directory {path} is not empty; evidence is never overwritten"
    path: str


class SameStore(ResumeproofError):
    """Journal and ledger are one file, by whatever path or link."""

    exit = Exit.USAGE
    template = "journal {journal} and ledger {ledger} are the same file; they must share nothing"
    journal: str
    ledger: str


class NameTaken(ResumeproofError):
    """A store under a name that belongs to the other one, such as its -wal or its lock file."""

    exit = Exit.USAGE
    template = "{path} is a name for what belongs to {store}, and no other store may lie there"
    path: str
    store: str


class HardLinked(ResumeproofError):
    """A store with two names would have two locks."""

    exit = Exit.USAGE
    template = "{path} has {links} hard links; a store with two names would have two locks"
    path: str
    links: int


# -- refused by the state machine ------------------------------------------------------------


class InvalidTransition(ResumeproofError):
    """The state machine has no such transition. Source: `domain.status.TRANSITIONS`."""

    exit = Exit.REFUSED
    template = "workflow {workflow_id} is {status}: {event} is not possible"
    workflow_id: str
    status: str
    event: str


class Conflict(ResumeproofError):
    """Somebody else changed the workflow between the reading and the writing."""

    exit = Exit.REFUSED
    template = (
        "workflow {workflow_id} was changed by somebody else "
        "(revision {expected} expected, {found} found)"
    )
    workflow_id: str
    expected: int
    found: int


class ApprovalRequired(ResumeproofError):
    exit = Exit.REFUSED
    template = "workflow {workflow_id} has no live approval of action {digest}: approve it first"
    workflow_id: str
    digest: str


class ApprovalMismatch(ResumeproofError):
    """The bytes that would be sent are not the bytes that were approved."""

    exit = Exit.REFUSED
    template = (
        "workflow {workflow_id}: approved action {approved}, found {found}; nothing was called"
    )
    workflow_id: str
    approved: str
    found: str


class WrongLedger(ResumeproofError):
    """The ledger is part of the workflow's identity: another one proves nothing."""

    exit = Exit.REFUSED
    template = "workflow {workflow_id} belongs to ledger {expected}, and this is ledger {found}"
    workflow_id: str
    expected: str
    found: str


class ProgramChanged(ResumeproofError):
    exit = Exit.REFUSED
    template = "workflow {workflow_id} was created by program {expected}, and this is {found}"
    workflow_id: str
    expected: str
    found: str


class WorkflowEnded(ResumeproofError):
    """The workflow ended in a way that leaves nothing to resume or to return."""

    exit = Exit.REFUSED
    template = "workflow {workflow_id} ended as {status}"
    workflow_id: str
    status: str


class AttemptSuperseded(ResumeproofError):
    """This driver is the old one: a newer attempt took over, and nothing of ours may be written."""

    exit = Exit.REFUSED
    template = "workflow {workflow_id}: attempt {attempt} was superseded by a newer driver"
    workflow_id: str
    attempt: int


class WorkflowExists(ResumeproofError):
    exit = Exit.REFUSED
    template = "workflow {workflow_id} exists already"
    workflow_id: str


# -- in doubt --------------------------------------------------------------------------------


class ReconciliationRequired(ResumeproofError):
    exit = Exit.IN_DOUBT
    template = (
        "workflow {workflow_id} is unknown ({reason}): an operator must reconcile it; "
        "it was not resumed"
    )
    workflow_id: str
    reason: str


# -- not there -------------------------------------------------------------------------------


class WorkflowNotFound(ResumeproofError):
    exit = Exit.NOT_FOUND
    template = "no workflow {workflow_id} in {path}"
    workflow_id: str
    path: str


class StoreNotFound(ResumeproofError):
    """`kind` is "journal", "ledger" or "receipt file"."""

    exit = Exit.NOT_FOUND
    template = "no {kind} at {path}"
    kind: str
    path: str


# -- busy, or not yet ------------------------------------------------------------------------


class JournalBusy(ResumeproofError):
    """Another driver holds the lock. `owner` is for people to read and is never believed."""

    exit = Exit.BUSY
    template = "journal {path} is held by another driver ({owner}); waited {waited_seconds:g} s"
    path: str
    owner: str
    waited_seconds: float


class NotYet(ResumeproofError):
    """A wait is not over. `until` is RFC 3339, UTC."""

    exit = Exit.BUSY
    template = "workflow {workflow_id}: not before {until} ({reason})"
    workflow_id: str
    until: str
    reason: str


# -- a subject that cannot be judged --------------------------------------------------------------


class SubjectRestless(ResumeproofError):
    """Resuming the subject changes something for ever, so that there is no final state."""

    exit = Exit.FINDINGS
    template = "subject {subject} still changes after {lives} undisturbed lives"
    subject: str
    lives: int


class SubjectFailed(ResumeproofError):
    """The subject cannot be proved: it fails without any crash. `life` says which one did."""

    exit = Exit.USAGE
    template = "the subject failed without a crash, in {life}: {reason}"
    life: str
    reason: str


class WorkerDied(ResumeproofError):
    """A worker of a proof died with its work undone: the subject reached beyond its own life."""

    exit = Exit.FINDINGS
    template = "a worker died ({how}) with its work undone: the subject kills more than itself"
    how: str


class PayloadRefused(ResumeproofError):
    """A payload or a state that cannot be pickled, and so cannot leave the process."""

    exit = Exit.USAGE
    template = "{place} cannot be pickled: {reason}"
    place: str
    reason: str


class FactoryRefused(ResumeproofError):
    """A command line's target that leads to no factory."""

    exit = Exit.USAGE
    template = "{target}: {reason}"
    target: str
    reason: str


class LookupNotOffered(ResumeproofError):
    """The subject asked what became of an effect, and the tool's contract offers no lookup."""

    exit = Exit.USAGE
    template = "tool {tool} offers no lookup: what became of an effect cannot be asked"
    tool: str


# -- damaged, or out of reach ----------------------------------------------------------------


class StoreRefused(ResumeproofError):
    """A file that is not ours, or not whole; it is left byte for byte as it was."""

    exit = Exit.DAMAGED
    template = "{kind} {path} refused: {reason}"
    kind: str
    path: str
    reason: str


class StoreUnavailable(ResumeproofError):
    """A full disk, a read-only file system, an I/O error, or a database that stayed locked."""

    exit = Exit.DAMAGED
    template = "{kind} {path} is not available: {cause}"
    kind: str
    path: str
    cause: str


class ConstraintViolated(ResumeproofError):
    """A row that the store refuses: a key that exists, a CHECK, an append-only trigger."""

    exit = Exit.DAMAGED
    template = "{kind} {path} refuses the row: {rule}"
    kind: str
    path: str
    rule: str


class ForkedHandle(ResumeproofError):
    """A store's handle that crossed a fork. Source: sqlite.org/howtocorrupt.html, section 2.6."""

    exit = Exit.DAMAGED
    template = (
        "{kind} {path} was opened in process {opened_pid} and cannot be used in its fork {pid}"
    )
    kind: str
    path: str
    opened_pid: int
    pid: int


class JournalDamaged(ResumeproofError):
    exit = Exit.DAMAGED
    template = "workflow {workflow_id} is damaged in the journal: {damage}"
    workflow_id: str
    damage: str


class ReceiptDamaged(ResumeproofError):
    exit = Exit.DAMAGED
    template = "workflow {workflow_id}: its acknowledged receipt does not verify: {damage}"
    workflow_id: str
    damage: str


class ToolUnreachable(ResumeproofError):
    """The tool gave no answer; what it did stays in doubt."""

    exit = Exit.DAMAGED
    template = (
        "workflow {workflow_id}: the tool cannot be reached: {cause}; the effect stays in doubt"
    )
    workflow_id: str
    cause: str


class ToolNotRegistered(ResumeproofError):
    """The ledger knows no tool of this workflow: it is not the ledger that `create` wrote to."""

    exit = Exit.DAMAGED
    template = "workflow {workflow_id} has no tool registered in ledger {path}"
    workflow_id: str
    path: str


class StraceMissing(ResumeproofError):
    """Durable system calls are recorded with strace, which only Linux has."""

    exit = Exit.USAGE
    template = (
        "strace is not installed ({platform}): on Debian and Ubuntu `apt-get install strace` "
        "brings it, on Fedora `dnf install strace`, on Alpine `apk add strace`; it runs on Linux "
        "only"
    )
    platform: str


class TracingForbidden(ResumeproofError):
    """The system does not let a process trace its own child, as in some containers."""

    exit = Exit.USAGE
    template = (
        "this system does not permit tracing, a container needs the capability SYS_PTRACE: {reason}"
    )
    reason: str


class ProgramHung(ResumeproofError):
    """A program that was to be recorded did not end."""

    exit = Exit.USAGE
    template = "{program} did not end within {seconds:g} seconds; --timeout gives it more"
    program: str
    seconds: float


class RecordingContradicted(ResumeproofError):
    """A recorded call names a file that the calls before it did not leave there."""

    exit = Exit.DAMAGED
    template = "the recording contradicts itself at {path!r}: {reason}"
    path: str
    reason: str


class ChildNotReaped(ResumeproofError):
    """A child outlived SIGKILL: it hangs in the kernel, or this process may not kill it."""

    exit = Exit.DAMAGED
    template = "process {pid} was still there {waited_seconds:g} s after it was killed"
    pid: int
    waited_seconds: float


class EvidenceBroken(ResumeproofError):
    """`verify` names the first thing that does not hold."""

    exit = Exit.DAMAGED
    template = "{path}: {what} does not hold: {detail}"
    path: str
    what: str
    detail: str


# -- what a tool answers instead of a receipt ------------------------------------------------


class KeyConflict(ResumeproofError):
    """The idempotency key was used before with other arguments (HTTP would say 422)."""

    exit = Exit.REFUSED
    template = "key {key!r} was used with other arguments ({first}, now {now})"
    key: str
    first: str
    now: str


class Fenced(ResumeproofError):
    """A newer attempt has asked: calls of this older attempt are refused from then on."""

    exit = Exit.REFUSED
    template = "attempt {attempt} of workflow {workflow_id} is fenced off by attempt {fence}"
    workflow_id: str
    attempt: int
    fence: int


class AttemptRepeated(ResumeproofError):
    """The tool has seen this attempt: the journal was rolled back behind its own effect."""

    exit = Exit.DAMAGED
    template = (
        "workflow {workflow_id}, step {step}, attempt {attempt} reached the tool before: "
        "the journal was rolled back"
    )
    workflow_id: str
    step: str
    attempt: int


class FailedBeforeEffect(ResumeproofError):
    """The tool failed, and says that nothing happened."""

    exit = Exit.REFUSED
    template = "the tool failed before the effect: {reason}"
    reason: str

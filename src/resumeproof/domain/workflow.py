"""The facts of one workflow, and the row under which a journal caches them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from resumeproof.domain.contract import ToolContract
from resumeproof.domain.status import Status


@dataclass(frozen=True)
class OpenAttempt:
    """A claim whose outcome was not recorded. Seen without its driver's lock, its driver died."""

    number: int
    purpose: str
    driver: str


@dataclass(frozen=True)
class Workflow:
    """The facts of one workflow. `revision` is the number of its records.

    `in_doubt`: a call may have reached the tool, and nothing has settled what it did.
    `doubt_before_attempt`: the same, as it was before the open attempt was claimed, since a
    failure before the effect settles its own attempt only.
    `deaths`, `failures`: dead attempts recovered, and attempts that failed before an effect, since
    the last step was settled. `called_digest`, `called_key`: the digest of the bytes last
    sent, and the key that they were sent with.
    `receipts`: each acknowledged receipt, with the digest of the bytes that were sent for it.
    `waits_for`: what a waiting workflow waits for. `inbox`: messages that are not applied yet.
    `taken`: the events that were taken, as `workflow#sequence` of their records.
    `first_unsettled_at`, `last_call_at`: instants of the first claim that is still unsettled and
    of the last claim that may have called.
    """

    id: str
    program: str
    program_digest: str
    ledger_id: str
    contract: ToolContract
    key: str | None
    max_retries: int
    max_recoveries: int
    retry_base_seconds: float
    created_at: str
    action_digest: str
    step: str
    status: Status
    revision: int
    head_hash: str
    updated_at: str
    approved_digest: str | None = None
    attempts: int = 0
    retries: int = 0
    recoveries: int = 0
    deaths: int = 0
    failures: int = 0
    called_digest: str | None = None
    called_key: str | None = None
    receipts: tuple[tuple[str | None, Mapping[str, Any]], ...] = ()
    waits_for: Mapping[str, Any] | None = None
    inbox: tuple[Any, ...] = ()
    taken: frozenset[str] = frozenset()
    open_attempt: OpenAttempt | None = None
    in_doubt: bool = False
    doubt_before_attempt: bool = False
    first_unsettled_at: str | None = None
    last_call_at: str | None = None
    retry_at: str | None = None
    reason: str | None = None
    results: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    output: Any = None

    def changed(self, **changes: Any) -> Workflow:
        """The same workflow but for `changes`.

        Every record of every fold comes through here, and `dataclasses.replace` sets each of the
        many fields again.
        """
        facts = vars(self) | changes
        facts.pop("_row", None)
        other = object.__new__(Workflow)
        object.__setattr__(other, "__dict__", facts)
        return other

    @property
    def mode(self) -> str:
        return "idempotent" if self.contract.idempotent else "non_idempotent"

    def row(self) -> dict[str, Any]:
        """The columns under which a journal stores this workflow, action and digest aside."""
        facts = vars(self)
        if "_row" not in facts:
            facts["_row"] = self._columns()
        return {**facts["_row"]}

    def _columns(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "program": self.program,
            "program_digest": self.program_digest,
            "ledger_id": self.ledger_id,
            "mode": self.mode,
            "key": self.key,
            "status": str(self.status),
            "step": self.step,
            "reason": self.reason,
            "approved_digest": self.approved_digest,
            "in_doubt": int(self.in_doubt),
            "attempts": self.attempts,
            "retries": self.retries,
            "recoveries": self.recoveries,
            "max_retries": self.max_retries,
            "max_recoveries": self.max_recoveries,
            "retry_at": self.retry_at,
            "driver": self.open_attempt.driver if self.open_attempt else None,
            "revision": self.revision,
            "head_hash": self.head_hash,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }

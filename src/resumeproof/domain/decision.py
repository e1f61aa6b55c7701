"""What can be decided about a workflow, and what a tool's answer can make of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from resumeproof.domain.receipt import Receipt
from resumeproof.errors import ResumeproofError


class Doubt(StrEnum):
    """Why a workflow was marked `unknown`."""

    OUTCOME_UNKNOWN = "outcome_unknown"
    RETRIES_EXHAUSTED = "retries_exhausted"
    RECOVERY_LIMIT = "recovery_limit"
    APPROVAL_UNVERIFIABLE = "approval_unverifiable"
    RECEIPT_UNVERIFIABLE = "receipt_unverifiable"
    KEY_CONFLICT = "key_conflict"
    JOURNAL_REWOUND = "journal_rewound"


class Purpose(StrEnum):
    """What an attempt claims the workflow for."""

    CALL = "call"
    REPLAY = "replay"
    LOOKUP = "lookup"


@dataclass(frozen=True)
class Refuse:
    """Do nothing and write nothing; `error` says why."""

    error: ResumeproofError


@dataclass(frozen=True)
class Return:
    """Return the recorded result, read-only."""


@dataclass(frozen=True)
class AcknowledgeRecorded:
    """Save what the last record made true; call nothing."""


@dataclass(frozen=True)
class Attempt:
    """Claim the workflow, then call, replay or look up."""

    purpose: Purpose


@dataclass(frozen=True)
class Advance:
    """Carry out a command that calls nobody."""


@dataclass(frozen=True)
class PeekEventually:
    """Ask an eventual lookup. It sets no fence, so nothing is claimed for it."""


@dataclass(frozen=True)
class Acknowledge:
    receipt: Receipt
    replayed: bool
    source: Purpose


@dataclass(frozen=True)
class AttemptFailed:
    """The attempt failed before the effect. It settles itself, and no earlier doubt."""

    reason: str
    stays_in_doubt: bool
    exhausted: bool


@dataclass(frozen=True)
class AbsenceProved:
    """No effect happened, and the fence keeps it so."""


@dataclass(frozen=True)
class LookupFailed:
    """Nobody answered; the effect stays in doubt."""

    cause: str


@dataclass(frozen=True)
class Fail:
    reason: str


@dataclass(frozen=True)
class MarkUnknown:
    reason: Doubt


Decision = (
    Refuse | Return | AcknowledgeRecorded | Advance | Attempt | PeekEventually | Fail | MarkUnknown
)
Conclusion = (
    Refuse | Acknowledge | AttemptFailed | AbsenceProved | LookupFailed | Fail | MarkUnknown
)

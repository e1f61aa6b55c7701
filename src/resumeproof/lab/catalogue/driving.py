"""This project's own driver: as it is, under each contract, and with one bug put into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from resumeproof.crash.plan import Boundary
from resumeproof.domain.action import parse_action
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.verdict import FindingKind
from resumeproof.lab.catalogue import sabotage
from resumeproof.lab.catalogue.entry import Entry
from resumeproof.lab.catalogue.sabotage import Sabotage, SabotagedLab
from resumeproof.lab.living import LivingLab
from resumeproof.lab.subject import Case, LabSubject, Times

SIX_BOUNDARIES: Final = tuple(map(str, Boundary))
VIRTUAL: Final = Times("2026-01-01T00:00:00.000000Z")
"""A minute lies between two lives: a lag of less is over by then, a key that lives less expired."""
ACTION: Final = parse_action(b'{"tool": "charge_card", "arguments": {"amount_cents": 4200}}')
KEY: Final = "order-1"

IDEMPOTENT: Final = ToolContract(ACTION.tool, idempotent=True)
SILENT: Final = ToolContract(ACTION.tool)
CONSISTENT: Final = ToolContract(ACTION.tool, lookup=Lookup.CONSISTENT)
EVENTUAL: Final = ToolContract(ACTION.tool, lookup=Lookup.EVENTUAL, lookup_lag_seconds=10)
EXPIRING: Final = ToolContract(ACTION.tool, idempotent=True, key_lifetime_seconds=30)


@dataclass(frozen=True)
class _Tool:
    """A simulated tool: what it promises, and how many calls fail before the effect."""

    contract: ToolContract
    key: str | None = KEY
    fail_before: int = 0

    def lab(self, name: str) -> LabSubject:
        case = Case(
            name, ACTION, self.contract, self.key, max_retries=2, fail_before=self.fail_before
        )
        return LabSubject(case, VIRTUAL)


_KEEPS_KEY: Final = _Tool(IDEMPOTENT)
_CAN_BE_ASKED: Final = _Tool(CONSISTENT)
_NEVER_SUCCEEDS: Final = _Tool(CONSISTENT, fail_before=99)
_FAILS_ONCE_UNASKED: Final = _Tool(SILENT, key=None, fail_before=1)


def _correct(name: str, tool: _Tool, of_tool: str, *, depth: int = 2) -> Entry:
    return Entry(
        name,
        f"This project's own driver, and a tool that {of_tool}",
        LivingLab(tool.lab(name)),
        depth=depth,
        boundaries=SIX_BOUNDARIES,
    )


def _broken(
    name: str,
    tool: _Tool,
    bugs: Sequence[Sabotage],
    bug: str,
    expects: FindingKind,
    plans: Sequence[str],
    also: Sequence[FindingKind] = (),
) -> Entry:
    return Entry(
        name,
        f"This project's own driver with a bug: it {bug}",
        SabotagedLab(tool.lab(name), bugs),
        expects=str(expects),
        plans=frozenset(plans),
        also=frozenset(map(str, also)),
        boundaries=SIX_BOUNDARIES,
    )


CORRECT: Final = (
    _correct("lab-idempotent", _KEEPS_KEY, "keeps one effect per key"),
    _correct("lab-silent", _Tool(SILENT, key=None), "takes no key and cannot be asked"),
    _correct("lab-consistent", _CAN_BE_ASKED, "can be asked for a key's effect"),
    _correct("lab-eventual", _Tool(EVENTUAL), "shows a key's effect only after a while"),
    _correct("lab-expired", _Tool(EXPIRING), "has forgotten its key by the time of the resume"),
    _correct("lab-retries", _NEVER_SUCCEEDS, "fails before every effect", depth=1),
)
BROKEN: Final = (
    _broken(
        "lab-sends-changed-bytes",
        _CAN_BE_ASKED,
        sabotage.SENDS_CHANGED_BYTES,
        "changes the approved bytes when it calls anew",
        FindingKind.EFFECT_UNAPPROVED,
        ("claim:after#1", "tool:before#1"),
    ),
    _broken(
        "lab-runs-acknowledged-step",
        _KEEPS_KEY,
        sabotage.RUNS_ACKNOWLEDGED_STEP,
        "runs an acknowledged step again, which the tool absorbs",
        FindingKind.WORK_REPEATED,
        ("ack:after#1",),
    ),
    _broken(
        "lab-counts-retries-anew",
        _NEVER_SUCCEEDS,
        sabotage.COUNTS_RETRIES_ANEW,
        "forgets in each life how often its calls have failed",
        FindingKind.RETRY_CAP_EXCEEDED,
        (
            "ack:after#1",
            "ack:before#2",
            "claim:after#2",
            "claim:before#2",
            "tool:after#2",
            "tool:before#2",
        ),
    ),
    _broken(
        "lab-believes-replayed-receipt",
        _KEEPS_KEY,
        sabotage.BELIEVES_REPLAYED_RECEIPT,
        "acknowledges a replayed receipt whose hash is wrong",
        FindingKind.EVIDENCE_BROKEN,
        ("ack:before#1", "tool:after#1"),
    ),
    _broken(
        "lab-takes-acknowledged-for-ended",
        _KEEPS_KEY,
        sabotage.TAKES_ACKNOWLEDGED_FOR_ENDED,
        "takes an acknowledged effect for its workflow's end",
        FindingKind.TERMINAL_MISSING,
        ("ack:after#1",),
        # What never ends rests at another status than what does.
        also=(FindingKind.RESUME_DIVERGED,),
    ),
    _broken(
        "lab-ends-again",
        _KEEPS_KEY,
        sabotage.ENDS_AGAIN,
        "ends a workflow once more that it finds ended",
        FindingKind.TERMINAL_REPEATED,
        ("ack:after#1",),
    ),
    _broken(
        "lab-commits-record-first",
        _KEEPS_KEY,
        sabotage.COMMITS_RECORD_FIRST,
        "commits an outcome's record, and then the state it leads to",
        FindingKind.RECORD_AHEAD,
        ("ack:after#1",),
        # A journal that is damaged is refused, here and below.
        also=(FindingKind.RESUME_CRASHED,),
    ),
    _broken(
        "lab-commits-state-first",
        _KEEPS_KEY,
        sabotage.COMMITS_STATE_FIRST,
        "commits the state that an outcome leads to, and then its record",
        FindingKind.STATE_AHEAD,
        ("ack:before#1",),
        also=(FindingKind.RESUME_CRASHED,),
    ),
    _broken(
        "lab-completes-later-doubt",
        _FAILS_ONCE_UNASKED,
        sabotage.COMPLETES_LATER_DOUBT,
        "reports a first attempt's doubt, and takes a later attempt for completed",
        FindingKind.AMBIGUITY_HIDDEN,
        ("ack:before#2", "claim:after#2", "tool:after#2", "tool:before#2"),
        # The two deaths before the tool left nothing behind that could have been completed.
        also=(FindingKind.EFFECT_LOST,),
    ),
)

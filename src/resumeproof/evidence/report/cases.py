"""A receipt file's workflows with all that it tells of each: what its pictures are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from resumeproof.domain.observation import LifeSeen
from resumeproof.evidence.lanes import Mark, Row
from resumeproof.evidence.order import Entry, in_order, recorded
from resumeproof.evidence.story import story
from resumeproof.stores.sqlite_ledger_rows import FencedLookup, Invocation


@dataclass(frozen=True, slots=True)
class Case:
    """One workflow: its part of the receipt, the account of its processes, and its story."""

    workflow: Mapping[str, Any]
    scenario: Mapping[str, Any]
    effects: tuple[Mapping[str, Any], ...]
    rows: tuple[Row, ...]

    @property
    def deaths(self) -> Iterator[tuple[int, tuple[Row, ...], Row]]:
        """For each death the number of its life, the rows until then, and its own row."""
        life = 0
        for place, row in enumerate(self.rows):
            life += row.mark is Mark.BIRTH
            if row.mark is Mark.DEATH:
                yield life, self.rows[:place], row

    @property
    def entries(self) -> Iterator[Entry]:
        return (row.entry for row in self.rows if row.entry is not None)


def cases(receipt: Mapping[str, Any]) -> tuple[Case, ...]:
    """The workflows in the receipt's order, which is that of its scenarios."""
    of = {scenario["workflow_id"]: scenario for scenario in receipt["scenarios"]}
    ledger = receipt["ledger"]
    told = []
    for workflow in receipt["workflows"]:
        identifier = workflow["id"]
        scenario = of[identifier]
        entries = in_order(
            [recorded(each["event"], each["at"], each["facts"]) for each in workflow["timeline"]],
            calls=[
                Invocation(**row)
                for row in ledger["invocations"]
                if row["workflow_id"] == identifier
            ],
            lookups=[
                FencedLookup(**row) for row in ledger["lookups"] if row["workflow_id"] == identifier
            ],
        )
        effects = (row for row in ledger["effects"] if row["workflow_id"] == identifier)
        rows = tuple(story(entries, lives=_lives(scenario)))
        told.append(Case(workflow, scenario, tuple(effects), rows))
    return tuple(told)


def _lives(scenario: Mapping[str, Any]) -> list[LifeSeen]:
    """The lives as the receipt tells of them; of what they printed it says nothing."""
    return [
        LifeSeen(
            pid=pid,
            exit=life["exit"],
            planned=life["planned"],
            witnessed=life["witnessed"],
            timed_out=False,
            orphans=(),
            stdout="",
            stderr="",
        )
        for life, pid in zip(scenario["lives"], scenario["pids"], strict=True)
    ]

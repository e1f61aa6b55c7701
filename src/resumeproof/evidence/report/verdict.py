"""The first screen of a demo's page: the verdict, and what was proved and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from resumeproof.evidence.report.cases import Case
from resumeproof.evidence.report.markup import Node, brief, joined
from resumeproof.evidence.report.page import Tone, figures, proved, section

_OUTCOMES: Mapping[str, str] = {
    "completed": "came to its end",
    "unknown": "waits for a person",
    "reconciled_applied": "was settled by a person",
    "reconciled_not_applied": "was settled by a person",
    "failed": "failed without an effect",
    "cancelled": "was withdrawn",
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def tone(told: Sequence[Case]) -> Tone:
    """Bad where a promise was broken, or the run was not what it was meant to be."""
    if any(_acted_twice(case) or not _as_planned(case) for case in told):
        return Tone.BAD
    return Tone.DOUBT if any(case.workflow["status"] == "unknown" for case in told) else Tone.GOOD


def verdict(told: Sequence[Case]) -> str:
    """What was done to the workflows and what came of them, in one sentence."""
    killed = [case for case in told if any(case.deaths)]
    places = list(dict.fromkeys(case.scenario["plan"].replace(";", ", then ") for case in killed))
    what = f"{_number(len(told))} workflow{'s' if len(told) != 1 else ''}".capitalize()
    verb = "were" if len(told) > 1 else "was"
    if killed:
        some = "" if len(killed) == len(told) else f" run, {_number(len(killed))} of them"
        begin = f"{what} {verb}{some} killed at {joined(places)} and resumed"
    else:
        begin = f"{what} {verb} run without a crash"
    outcomes = Counter(_OUTCOMES.get(case.workflow["status"], "is not at its end") for case in told)
    came = ", ".join(f"{_number(count)} {outcome}" for outcome, count in outcomes.items())
    twice = sum(map(_acted_twice, told))
    end = f"{_number(twice)} acted twice" if twice else "none acted twice"
    return f"{begin}: {came}; {end}."


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _acted_twice(case: Case) -> bool:
    """Whether the ledger holds two effects of one action in one step."""
    acts = Counter((each["step"], each["key"], each["fingerprint"]) for each in case.effects)
    return max(acts.values(), default=0) > 1


def _as_planned(case: Case) -> bool:
    """Whether each life died where it was to die, and ended well where it was left alone."""
    return all(
        life["planned"] == life["witnessed"]
        and (life["planned"] is not None or life["exit"]["code"] == 0)
        for life in case.scenario["lives"]
    )


def certificate(receipt: Mapping[str, Any], told: Sequence[Case]) -> Element:
    """The figures of a run, and what follows from them and what does not."""
    lives = [life for case in told for life in case.scenario["lives"]]
    planned = [life for life in lives if life["planned"] is not None]
    met = sum(life["witnessed"] == life["planned"] for life in planned)
    totals = receipt["totals"]
    pairs: list[tuple[str, Node, str]] = [
        ("Kills as planned", f"{met} of {len(planned)}", "by the dead process\u2019s own witness"),
        ("Process lives", f"{len(lives)}", f"{len(lives) - len(planned)} were left alone"),
        ("Effects", f"{totals['effects']}", "counted in the tool\u2019s own ledger"),
        ("Repeated calls", f"{totals['replays']}", "answered with the first receipt"),
        ("In doubt", f"{totals['unknown']}", "for a person to decide"),
    ]
    return section(
        "What this rests on",
        figures(pairs),
        proved(list(_proofs(receipt, told)), list(_limits(totals))),
        id_="certificate",
    )


def _proofs(receipt: Mapping[str, Any], told: Sequence[Case]) -> Iterator[str]:
    deaths = sum(1 for case in told for _ in case.deaths)
    if deaths and all(map(_as_planned, told)):
        how = joined(sorted({_exit(case) for case in told if any(case.deaths)}))
        yield f"Processes really died, where they were to die, by {how}."
    if not any(map(_acted_twice, told)):
        yield "No step acted twice: the tool\u2019s ledger holds at most one effect of each."
    if receipt["totals"]["replays"]:
        yield "A call that was repeated under its key got the first receipt, and made no effect."
    if receipt["totals"]["unknown"]:
        yield "Where neither promise nor question could tell what had happened, nobody guessed."
    if all(case.scenario["durability"] for case in told):
        yield "Each commit was synced before it counted: both stores ran in WAL with full syncs."


def _exit(case: Case) -> str:
    return brief(case.scenario["child_exit"]["text"])


def _limits(totals: Mapping[str, int]) -> Iterator[str]:
    yield (
        "That this page is true: it repeats its receipt file. resumeproof verify derives that file "
        "again from the databases beside it."
    )
    if totals["unknown"]:
        yield "What came of the one in doubt, to whoever cannot look into the tool\u2019s ledger."
    yield "That your tool keeps its promises: this one is simulated, and does."
    yield "A power cut: processes were killed here, and no machine."
    yield "Who somebody is: actors are labels, and no authentication."

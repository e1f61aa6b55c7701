"""The page of a demo: what was done to each workflow, what each store knew, and what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from resumeproof.evidence.lanes import Mark
from resumeproof.evidence.report.cases import Case, cases
from resumeproof.evidence.report.crash import NARROW, WIDE, crash_picture
from resumeproof.evidence.report.knowledge import (
    Knowledge,
    Source,
    conclusions,
    explained,
    knowledge,
    not_asked,
    rows_in_words,
)
from resumeproof.evidence.report.machine import (
    NARROW_MACHINE,
    WIDE_MACHINE,
    machine_picture,
    named,
    path_of,
)
from resumeproof.evidence.report.marks import Shape, legend, mark, shape_of
from resumeproof.evidence.report.markup import Node, element, joined
from resumeproof.evidence.report.page import (
    Page,
    Tone,
    badge,
    figures,
    proved,
    section,
    table,
)

_TONES: Mapping[str, Tone] = {"completed": Tone.GOOD, "unknown": Tone.DOUBT}
_OUTCOMES: Mapping[str, str] = {
    "completed": "came to its end",
    "unknown": "waits for a person",
    "reconciled_applied": "was settled by a person",
    "reconciled_not_applied": "was settled by a person",
    "failed": "failed without an effect",
    "cancelled": "was withdrawn",
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def page(receipt: Mapping[str, Any]) -> Page:
    """The page of a demo's receipt. Raises KeyError, TypeError or ValueError for facts of another
    form than the records of this package have."""
    told = cases(receipt)
    return Page(
        kind="a demo",
        title="What a crash left behind",
        tone=_tone(told),
        verdict=_verdict(told),
        sections=[
            _certificate(receipt, told),
            *(_workflow(case, place) for place, case in enumerate(told, start=1)),
            _environment(receipt),
        ],
    )


# -- the first screen ------------------------------------------------------------------------


def _tone(told: Sequence[Case]) -> Tone:
    if any(_acted_twice(case) or not _as_planned(case) for case in told):
        return Tone.BAD
    return Tone.DOUBT if any(case.workflow["status"] == "unknown" for case in told) else Tone.GOOD


def _verdict(told: Sequence[Case]) -> str:
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
    return all(life["planned"] == life["witnessed"] for life in case.scenario["lives"])


def _certificate(receipt: Mapping[str, Any], told: Sequence[Case]) -> Element:
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
    return str(case.scenario["child_exit"]["text"])


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


# -- one workflow ----------------------------------------------------------------------------


def _workflow(case: Case, place: int) -> Element:
    workflow, prefix = case.workflow, f"workflow-{place}"
    title = f"{workflow['contract']['name']}: {workflow['mode'].replace('_', '-')}"
    status = workflow["status"]
    key = f"key {workflow['key']}" if workflow["key"] is not None else "no key"
    return section(
        title,
        element(
            "p",
            badge(_TONES.get(status, Tone.PLAIN), named(status)),
            element("span", key),
            element("code", workflow["id"]),
            class_="facts",
        ),
        element("p", explained(case)),
        _crash(case, prefix),
        *(_knew(each) for each in knowledge(case)),
        _conclusions(case),
        _machine(case, prefix),
        _in_full(case),
        id_=prefix,
    )


def _crash(case: Case, prefix: str) -> Element:
    title = f"What happened to {case.workflow['contract']['name']}, in order"
    shapes = [
        shape_of(row)
        for row in case.rows
        if row.entry is not None or row.mark in (Mark.DEATH, Mark.WAIT)
    ]
    return element(
        "figure",
        *(
            crash_picture(case.rows, title, f"{prefix}-crash", form, not_asked(case))
            for form in (WIDE, NARROW)
        ),
        legend(shapes),
        element("figcaption", "Time runs downwards. An arrow says which process wrote what."),
    )


def _knew(known: Knowledge) -> Element:
    where = f", {known.where}" if known.where else ""
    return element(
        "div",
        element("h3", f"What each store knew when process {known.life} died"),
        element("p", f"{known.how}{where}.", class_="lead"),
        element(
            "div",
            _held(Source.JOURNAL, "The journal held", known.journal),
            _held(Source.LEDGER, "The tool\u2019s ledger held", known.ledger),
            class_="sides",
        ),
        element("p", known.gap, class_="gap"),
        class_="knew",
    )


def _held(source: Source, title: str, items: Sequence[str]) -> Element:
    return element(
        "div",
        element("h4", _source_mark(source), title),
        element("ul", *(element("li", item) for item in items)),
        class_=f"side {source.split()[-1]}",
    )


def _conclusions(case: Case) -> Element:
    rows: list[tuple[Node, ...]] = [
        (
            each.text,
            element("span", _source_mark(each.source), str(each.source), class_="source"),
            each.why,
            badge(Tone.DOUBT, each.person) if each.person.startswith("has to") else each.person,
        )
        for each in conclusions(case)
    ]
    head = ("Conclusion", "Known to", "Because", "Needed a person")
    return table("Which conclusion came from which store", head, rows)


def _source_mark(source: Source) -> Element:
    shape = {
        Source.JOURNAL: Shape.RECORD,
        Source.LEDGER: Shape.EFFECT,
        Source.PERSON: Shape.PERSON,
        Source.NOBODY: Shape.DOUBT,
    }[source]
    return element(
        "svg", mark(shape, 12, 12), viewBox="0 0 24 24", width=18, height=18, aria_hidden="true"
    )


def _machine(case: Case, prefix: str) -> Element:
    path = path_of(record["event"] for record in case.workflow["timeline"])
    title = f"The path of {case.workflow['contract']['name']} through the state machine"
    steps = (
        element("li", element("b", named(step.event)), f" \u2192 {named(step.after)}")
        for step in path
    )
    return element(
        "figure",
        element("h3", "Its path through the state machine"),
        *(
            machine_picture(path, title, f"{prefix}-machine", form)
            for form in (WIDE_MACHINE, NARROW_MACHINE)
        ),
        element("ol", *steps, class_="path"),
        element(
            "figcaption",
            "Every arrow is a transition that the code allows; numbered are those that were taken. "
            "A double frame is an end.",
        ),
    )


def _in_full(case: Case) -> Element:
    rows = [
        (str(place), store, row.journal or row.ledger, element("code", row.entry.at))
        for place, (row, store) in enumerate(rows_in_words(case.rows), start=1)
        if row.entry is not None
    ]
    action = case.workflow["action"]
    bytes_of = "was replaced since" if action is None else _json(action)
    lives = [
        (
            f"{place}",
            str(pid),
            life["planned"] or "left alone",
            life["exit"]["text"],
        )
        for place, (pid, life) in enumerate(
            zip(case.scenario["pids"], case.scenario["lives"], strict=True), start=1
        )
    ]
    return element(
        "details",
        element("summary", "Every record, call and process"),
        element("p", "Approved action: ", element("code", bytes_of)),
        element("p", "Its digest: ", element("code", case.workflow["action_digest"])),
        table("Records and calls in their order", ("Place", "Store", "What", "At"), rows),
        table("Process lives", ("Life", "Process id", "Was to die at", "Ended with"), lives),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _environment(receipt: Mapping[str, Any]) -> Element:
    stores = receipt["stores"]
    rows = [
        (name, element("code", stores[store]["file"]), element("code", stores[store]["sha256"]))
        for name, store in (("Journal", "journal"), ("Tool ledger", "ledger"))
    ]
    made = joined([f"{name} {version}" for name, version in receipt["environment"].items()])
    return section(
        "What it was made from",
        table("The databases beside the receipt file", ("Store", "File", "SHA-256"), rows),
        element("p", f"Made with {made}.", class_="lead"),
        id_="environment",
    )

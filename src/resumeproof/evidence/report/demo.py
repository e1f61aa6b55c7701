"""The page of a demo: what was done to each workflow, what each store knew, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from resumeproof.evidence.lanes import Mark
from resumeproof.evidence.report.cases import Case, cases
from resumeproof.evidence.report.crash import NARROW, WIDE, answer_lost, crash_picture
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
from resumeproof.evidence.report.markup import Node, brief, element, joined
from resumeproof.evidence.report.page import (
    Page,
    Tone,
    badge,
    section,
    table,
)
from resumeproof.evidence.report.verdict import certificate, tone, verdict

_TONES: Mapping[str, Tone] = {"completed": Tone.GOOD, "unknown": Tone.DOUBT}


def page(receipt: Mapping[str, Any]) -> Page:
    """The page of a demo's receipt. Raises KeyError, TypeError or ValueError for facts of another
    form than the records of this package have."""
    told = cases(receipt)
    return Page(
        kind="a demo",
        title="What a crash left behind",
        tone=tone(told),
        verdict=verdict(told),
        sections=[
            certificate(receipt, told),
            *(_workflow(case, place) for place, case in enumerate(told, start=1)),
            _environment(receipt),
        ],
    )


# -- one workflow ----------------------------------------------------------------------------


def _workflow(case: Case, place: int) -> Element:
    workflow, prefix = case.workflow, f"workflow-{place}"
    title = f"{_name(case)}: {workflow['mode'].replace('_', '-')}"
    status = workflow["status"]
    key = "no key" if workflow["key"] is None else f"key {brief(workflow['key'])}"
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


def _name(case: Case) -> str:
    return brief(case.workflow["contract"]["name"])


def _crash(case: Case, prefix: str) -> Element:
    title = f"What happened to {_name(case)}, in order"
    shapes = [
        shape_of(row)
        for row in case.rows
        if row.entry is not None or row.mark in (Mark.DEATH, Mark.WAIT)
    ]
    shapes += [Shape.LOST for row in case.rows if answer_lost(row)]
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
        element("p", f"{brief(known.how)}{where}.", class_="lead"),
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
    title = f"The path of {_name(case)} through the state machine"
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
        element("p", "Tool: ", element("code", case.workflow["contract"]["name"])),
        element("p", "Key: ", element("code", case.workflow["key"] or "none")),
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

"""What a verdict of proofs rests on: the certificate, and what was proved and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.etree.ElementTree import Element

from resumeproof.domain.conformance import AT_CALLS
from resumeproof.evidence.report.markup import Node, counted, element, joined
from resumeproof.evidence.report.page import Tone, badge, figures, proved, section

Receipt = Mapping[str, Any]

_KILLED: Final = (
    ("enumerated", "crash points", "enumerated"),
    ("fired", "kills", "carried out"),
    ("verified", "verified", "seen to be the planned ones"),
    ("judged", "judged", "held against a run without a crash"),
)
_REBUILT: Final = (
    ("enumerated", "crashes", "that leave something else each"),
    ("fired", "rebuilt", "as each crash leaves it"),
    ("verified", "verified", "the recording accounts for all that was left"),
    ("judged", "judged", "by what became of it"),
)
"""What a certificate counts, where processes were killed and where a recording was cut off."""

_LIVES: Final = {
    "process": "Every death was a real one: a forked process was killed, and its wait status read.",
    "spawn": "Every death was a real one: an interpreter was killed, and its wait status read.",
    "program": "The program itself was killed, or its directory rebuilt as a death leaves it.",
    "inline": "The deaths were only played, as exceptions in one process.",
}
_AT_CALLS: Final = (
    "A life was recorded, and its directory rebuilt as a death at each of its calls leaves it;"
    " where a resume of that failed, a life was killed there."
)


def grounds(receipt: Receipt, proofs: Sequence[Receipt]) -> Element:
    """What the verdict rests on."""
    certificate = receipt["certificate"]
    rebuilt = all(proof["exploration"] or _at_calls(proof) for proof in proofs)
    told = _REBUILT if rebuilt else _KILLED
    numbers: list[tuple[str, Node, str]] = [
        (name, f"{certificate[member]:,}", words) for member, name, words in told
    ]
    if certificate["byte_images"]:
        images = f"of {certificate['byte_images']:,} images, {certificate['resumed']:,} resumed"
        numbers.append(("states", f"{certificate['states']:,}", images))
    return section(
        "What this rests on",
        figures(numbers),
        proved(_shown(proofs), list(_limits(proofs))),
        *_answers(proofs),
        id_="certificate",
    )


def _lives(proof: Receipt) -> Node:
    return _AT_CALLS if _at_calls(proof) else _LIVES[proof["terms"]["isolation"]]


def _at_calls(proof: Receipt) -> bool:
    return bool(proof["terms"]["at"] == AT_CALLS)


def _shown(proofs: Sequence[Receipt]) -> list[Node]:
    """What was proved."""
    lives = (
        _AT_CALLS if _at_calls(each) else _LIVES[each["terms"]["isolation"]] for each in proofs
    )
    shown = list(dict.fromkeys(lives))
    depth = max(proof["terms"]["depth"] for proof in proofs)
    if depth > 1:
        shown.append(f"A resume was killed as well, up to {depth} deaths in a row.")
    if any(proof["terms"]["isolation"] in ("process", "spawn") for proof in proofs):
        shown.append("A fresh life read the state again; what was never durable would have shown.")
    absorbed = sum(proof["absorbed"] for proof in proofs)
    if absorbed:
        answered = counted(absorbed, "call") + (" was" if absorbed == 1 else " were")
        shown.append(f"{answered} answered with the receipt of an earlier one, and not doubled.")
    for scored in (proof["scored"] for proof in proofs if proof["scored"]):
        shown.append(
            f"Missed ambiguity {scored['missed']} of {scored['ambiguous']}, "
            f"needless escalation {scored['needless']} of {scored['reported']}."
        )
    return list(shown)


def _limits(proofs: Sequence[Receipt]) -> Iterator[Node]:
    """What was not proved."""
    plans = [proof["terms"]["plan"] for proof in proofs if proof["terms"]["plan"] is not None]
    if plans:
        yield f"Any crash but the one that was asked for: {', '.join(dict.fromkeys(plans))}."
    powers = [proof["exploration"] for proof in proofs if proof["exploration"]]
    if not any(told["device_model"] is not None for told in powers):
        yield "A power cut: what was written and not synced is kept by a kill, and not by that."
    if all(proof["terms"]["depth"] == 1 for proof in proofs):
        yield "A second crash, while it resumes."
    for told in (*powers, *proofs):
        yield from (f"Not covered: {each}." for each in told["not_covered"])
    globs = [glob for proof in proofs for glob in proof["terms"]["ignored"]]
    if globs:
        yield f"What became of files that were not compared: {', '.join(dict.fromkeys(globs))}."
    for proof in proofs:
        if proof["nondeterminism"]:
            differ = proof["nondeterminism"]
            yield f"No verdict is certain, for two runs without a crash differ: {differ}"
        if proof["unshareable"]:
            yield f"Each life was run from its beginning: {proof['unshareable']}."
    if len(powers) < len(proofs):
        yield "A provider's own word: the ledger here stands in for one."


def _answers(proofs: Sequence[Receipt]) -> Iterator[Element]:
    """Of a program: whether it survives a kill, and whether a power cut."""
    for told in (proof["exploration"] for proof in proofs if proof["exploration"]):
        badges = [
            badge(*_answer(name, told[member], asked=asked))
            for name, member, asked in (
                ("kill", "kill_safe", True),
                ("power", "power_safe", told["device_model"] is not None),
            )
        ]
        yield element("p", *badges, class_="badges")
        rows: list[tuple[str, Node]] = [
            ("program", element("code", told["command"])),
            ("resumed by", element("code", told["resume"])),
            ("judged by", element("code", told["check"]) if told["check"] else "its files"),
        ]
        alone = [domain for domain in told["domains"] if domain]
        if alone:
            rows.append(("loses power on its own", joined(alone)))
        yield facts(rows)
        if told["device_model"] is not None:
            rules = (element("li", rule) for rule in told["device_model"].splitlines())
            summary = element("summary", "What a power cut may lose")
            yield element("details", summary, element("ul", *rules))


def facts(pairs: Sequence[tuple[str, Node]]) -> Element:
    """Names and what they are, one below the other."""
    rows = (element("div", element("dt", name), element("dd", told)) for name, told in pairs)
    return element("dl", *rows, class_="facts")


def _answer(name: str, safe: bool | None, *, asked: bool) -> tuple[Tone, str]:
    if safe is None:
        return Tone.PLAIN, f"{name}-safe: {'not known' if asked else 'not asked'}"
    return (Tone.GOOD, f"{name}-safe") if safe else (Tone.BAD, f"not {name}-safe")

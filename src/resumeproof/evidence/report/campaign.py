"""The page of proofs: the verdict, a map of all crash points, and each scenario as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote
from xml.etree.ElementTree import Element

from resumeproof.domain.verdict import GUARANTEE, Finding, FindingKind
from resumeproof.evidence.proof_versions import proofs_of
from resumeproof.evidence.report.campaign_data import VERDICTS, campaign_data
from resumeproof.evidence.report.grounds import grounds
from resumeproof.evidence.report.markup import Node, counted, data, element
from resumeproof.evidence.report.page import Page, Tone, badge, section, table

Receipt = Mapping[str, Any]

_UNRESERVED: Final = "-_.!~*'()"
FINDINGS_AT_MOST: Final = 20
"""Rows of the table of findings; the map leads to all of them."""

DATA_ID: Final = "campaign-data"
_KINDS: Final = {"conform": "proof", "shapes": "shapes", "explore": "exploration"}
_DEATHS: Final = {"sigkill": "SIGKILL", "exit86": "exit 86"}
_BADGES: Final = tuple(zip((Tone.GOOD, Tone.BAD, Tone.DOUBT), VERDICTS, strict=True))


def page(receipt: Receipt) -> Page:
    """The page of a receipt file of proofs, of any version."""
    proofs = proofs_of(receipt)
    kind = _KINDS[receipt["kind"]]
    sections = [grounds(receipt, proofs)]
    if any(proof["scenarios"] for proof in proofs):
        sections.append(_map(proofs))
    sections += [*_findings(proofs), _terms(proofs), data(DATA_ID, campaign_data(proofs))]
    return Page(
        kind=kind,
        title=proofs[0]["subject"] if len(proofs) == 1 else f"{len(proofs)} proofs",
        tone=_tone(proofs),
        verdict=_verdict(receipt, proofs),
        sections=sections,
        scripts=("campaign_scenes.js", "campaign_picture.js", "campaign_map.js", "campaign.js"),
        styles=("campaign.css",),
    )


# -- the first screen ------------------------------------------------------------------------


def _tone(proofs: Sequence[Receipt]) -> Tone:
    if not all(proof["passed"] for proof in proofs):
        return Tone.BAD
    sure = not any(proof["nothing_proved"] or proof["nondeterminism"] for proof in proofs)
    return Tone.GOOD if sure else Tone.DOUBT


def _verdict(receipt: Receipt, proofs: Sequence[Receipt]) -> str:
    """One sentence."""
    verdicts = Counter(each["verdict"] for proof in proofs for each in proof["scenarios"])
    subject = proofs[0]["subject"] if len(proofs) == 1 else f"{len(proofs)} subjects"
    tried = verdicts.total()
    crashes = counted(tried, "crash") if tried == 1 else f"{tried:,} crashes"
    if not receipt["passed"]:
        return " ".join(_broken(subject, verdicts, crashes, proofs))
    if tried == 0:
        return f"Nothing was proved of {subject}: there was nothing to crash at."
    if any(proof["nondeterminism"] for proof in proofs):
        return f"{subject} survived {crashes}, but two runs without a crash differ."
    if tried == 1:
        return f"{subject} survived the one crash that was tried."
    return f"{subject} survived all {crashes}."


def _broken(
    subject: str, verdicts: Counter[str], crashes: str, proofs: Sequence[Receipt]
) -> Iterator[str]:
    if verdicts["failed"]:
        yield f"{subject} did not survive {verdicts['failed']:,} of {crashes}."
    elif any(proof["findings"] for proof in proofs):
        yield f"{subject} broke a guarantee without a crash."
    if verdicts["invalid"]:
        yield f"{verdicts['invalid']:,} of {crashes} did not happen as planned."


# -- the map ---------------------------------------------------------------------------------


def _map(proofs: Sequence[Receipt]) -> Element:
    """Empty: `campaign.js` draws what can be seen of it, and opens scenarios below."""
    scenarios = sum(len(proof["scenarios"]) for proof in proofs)
    return section(
        "Every crash point",
        element("template", *(badge(*each) for each in _BADGES), id="badges"),
        element("noscript", element("p", "The map needs scripts. The table below does not.")),
        element("div", id="map", data_scenarios=str(scenarios)),
        element("div", id="scenario"),
        id_="crash-points",
        lead="Each square is a crash and what came of it. Open one to see it: by click, or with the"
        " arrow keys and Enter.",
    )


# -- findings and terms ----------------------------------------------------------------------


def _findings(proofs: Sequence[Receipt]) -> Iterator[Element]:
    found = [(number, each) for number, proof in enumerate(proofs) for each in proof["findings"]]
    if not found:
        return
    kinds = Counter(each["kind"] for _, each in found)
    summed: list[list[Node]] = [
        [element("code", kind), GUARANTEE[FindingKind(kind)], f"{count:,}"]
        for kind, count in sorted(kinds.items(), key=lambda each: -each[1])
    ]
    rows = [_row(proofs, number, finding) for number, finding in found[:FINDINGS_AT_MOST]]
    head = ["finding", "where", "what"]
    if len(proofs) > 1:
        head.insert(1, "subject")
    title = "Each finding"
    if len(found) > FINDINGS_AT_MOST:
        title = f"The first {FINDINGS_AT_MOST} of {len(found):,} findings; the map shows all"
    yield section(
        "What was found",
        table("Broken guarantees", ["finding", "the guarantee", "times"], summed),
        table(title, head, rows),
        id_="findings",
    )


def _row(proofs: Sequence[Receipt], number: int, finding: Receipt) -> list[Node]:
    told = Finding(
        FindingKind(finding["kind"]), finding["crash_after"], finding["detail"], finding["plan"]
    )
    where: Node = told.place
    if finding["plan"] != "baseline":
        where = element("a", told.place, href=_address(number, finding["plan"]))
    row: list[Node] = [element("code", finding["kind"]), where, finding["detail"]]
    if len(proofs) > 1:
        row.insert(1, proofs[number]["subject"])
    return row


def _address(number: int, plan: str) -> str:
    """As JavaScript's encodeURIComponent writes it."""
    return f"#{number}/{quote(plan, safe=_UNRESERVED)}"


def _terms(proofs: Sequence[Receipt]) -> Element:
    """How each proof was made, and what it came to."""
    rows: list[list[Node]] = [
        [
            proof["subject"],
            badge(Tone.GOOD, "passed") if proof["passed"] else badge(Tone.BAD, "failed"),
            counted(proof["crash_points"], proof["crashes_at"]),
            f"{len(proof['scenarios']):,}",
            _DEATHS[proof["terms"]["kill"]],
        ]
        for proof in proofs
    ]
    # What a program calls is its own affair.
    contracts = [proof["terms"]["contract"] for proof in proofs if not proof["exploration"]]
    told = list(dict.fromkeys(_contract(contract) for contract in contracts))
    return section(
        "How it was proved",
        table("Proofs", ["subject", "verdict", "crashed at", "scenarios", "death"], rows),
        *(element("p", each, class_="lead") for each in told),
        id_="terms",
    )


def _contract(contract: Receipt) -> str:
    """What the receiver of the effects promises, in words."""
    repeat = (
        "takes a repeated key for the first call"
        if contract["idempotent"]
        else ("takes a repeated key for another effect")
    )
    lookups = {
        "none": "cannot be asked what it did",
        "consistent": "can be asked what it did",
        "eventual": f"tells what it did at most {contract['lookup_lag_seconds']:g} s late",
    }
    life = contract["key_lifetime_seconds"]
    forgets = "" if life is None else f", forgets a key after {life:g} s"
    return f"The tool {contract['name']!r} {repeat}{forgets}, and {lookups[contract['lookup']]}."

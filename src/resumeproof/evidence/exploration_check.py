"""Checking what a receipt file says of a program: the two answers follow from the scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_POWER_CUT: Final = "power."
_POWER_LOSS: Final = "power_loss"


def problems_of_exploration(proof: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each contradiction: where it is, and what is wrong."""
    told = proof["exploration"]
    if told["command"] != proof["subject"]:
        yield "exploration/command", f"the subject is {proof['subject']}"
    passed, words = (len(proof["undisturbed"][member]) for member in ("passed", "words"))
    if passed != 2 * proof["crash_points"] or words != passed:
        counted = f"{proof['crash_points']} calls, {passed} places to crash, {words} in words"
        yield "undisturbed", counted
    yield from _problems_of_deaths(proof["scenarios"])
    asked = told["device_model"] is not None
    alone = proof["terms"]["plan"] is not None
    if not (asked or alone) and any(each["kill"] == _POWER_LOSS for each in proof["scenarios"]):
        yield "exploration/device_model", "there are power cuts, and nothing says by which model"
    for member, power, known in (("kill_safe", False, True), ("power_safe", True, asked)):
        possible = _possible(proof, power=power) if known else (None,)
        if told[member] not in possible:
            due = " or ".join(map(str, possible))
            yield f"exploration/{member}", f"it says {told[member]}, and was to be {due}"


def _problems_of_deaths(scenarios: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for index, scenario in enumerate(scenarios):
        cut = any(point.startswith(_POWER_CUT) for point in scenario["plan"].split(";"))
        if cut is not (scenario["kill"] == _POWER_LOSS):
            yield f"scenarios/{index}/kill", f"its plan is {scenario['plan']}"
        if cut is not (scenario["note"] is not None):
            yield f"scenarios/{index}/note", f"its plan is {scenario['plan']}"


def _possible(proof: Mapping[str, Any], *, power: bool) -> tuple[bool | None, ...]:
    """What may be said of kills alone, or of power cuts as well."""
    tried = [each for each in proof["scenarios"] if power or each["kill"] != _POWER_LOSS]
    failed = {finding["plan"] for finding in proof["findings"]}
    if any(each["plan"] in failed for each in tried):
        return (False,)
    alone = proof["terms"]["plan"] is not None
    if alone or not tried or any(each["invalid"] is not None for each in proof["scenarios"]):
        return (None,)
    # How many power cuts were left out, no scenario tells.
    return (True, None) if power else (True,)

"""Look again at what failed: the fewest losses that still fail, and a real kill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from resumeproof.crash.plan import CrashPlan
from resumeproof.crash.syscalls.minimal import fewest_losses
from resumeproof.crash.syscalls.power import PowerLoss, PowerState, is_power_point
from resumeproof.crash.syscalls.states import Output
from resumeproof.domain.verdict import Violation
from resumeproof.proof.commands.confirmation import Confirmation
from resumeproof.proof.commands.court import Court
from resumeproof.proof.commands.discoveries import Discovery, Likeness, grouped, likeness
from resumeproof.proof.commands.exploring import Explored
from resumeproof.proof.commands.images import Image, Key
from resumeproof.proof.commands.site import Judged, Site
from resumeproof.proof.explanation import explained

LOOKED_AT_MOST: Final = 25
"""So many kills, and so many power cuts, are looked at again; nobody reads more."""

NOT_LOOKED_AT: Final = f"only the first {LOOKED_AT_MOST} ways to fail were looked at again"


def discoveries(explored: Explored, court: Court) -> list[Discovery]:
    """What was found, kills first; each with what a second look says."""
    found = grouped(explored)
    kills = [each for each in found if not _ends_by_power_cut(each)]
    cuts = [each for each in found if _ends_by_power_cut(each)]
    looked = [*_confirmed(kills, explored, court), *_smallest(cuts, explored, court)]
    return [
        replace(each, explanation=_explanation(each, explored))
        for each in sorted(looked, key=lambda each: each.state.power)
    ]


def _ends_by_power_cut(discovery: Discovery) -> bool:
    return is_power_point(CrashPlan.parse(discovery.state.plan).points[-1])


def _explanation(discovery: Discovery, explored: Explored) -> tuple[str, ...]:
    """How the state of the last death comes about."""
    *before, point = CrashPlan.parse(discovery.state.plan).points
    recorded = explored.runs[str(CrashPlan(tuple(before)))].recorded
    if not recorded.recording.calls:
        return ()
    power = None if before else explored.power
    return explained(point, recorded.recording, recorded.start, power)


def _confirmed(kills: Sequence[Discovery], explored: Explored, court: Court) -> list[Discovery]:
    confirmation = Confirmation(explored.runs, explored.baseline.trial)

    def confirm(site: Site, discovery: Discovery) -> Discovery:
        return confirmation.of(discovery, site)

    looked = court.each(kills[:LOOKED_AT_MOST], confirm)
    return looked + [
        replace(each, confirmed=False, unconfirmed=NOT_LOOKED_AT) for each in kills[LOOKED_AT_MOST:]
    ]


def _smallest(cuts: Sequence[Discovery], explored: Explored, court: Court) -> list[Discovery]:
    """Each power cut with as few losses as still fail; those that come to the same are one."""
    power = explored.power
    if power is None:
        return list(cuts)
    reduction = _Reduction(power, explored)

    def reduce(site: Site, discovery: Discovery) -> tuple[Discovery, Judged | None]:
        return reduction.of(discovery, site)

    merged: dict[tuple[str, Likeness], Discovery] = {}
    looked = court.each(cuts[:LOOKED_AT_MOST], reduce)
    for each, judged in [*looked, *((each, None) for each in cuts[LOOKED_AT_MOST:])]:
        explored.add(each.state, each.image, judged)
        key = each.state.plan, likeness(each.violation)
        same = merged.get(key)
        states = each.states + (same.states if same else 0)
        merged[key] = replace(same or each, states=states)
    return list(merged.values())


class _Reduction:
    """Looks for the fewest losses; what it judges on the way is judged once."""

    def __init__(self, power: PowerLoss, explored: Explored) -> None:
        self._power = power
        self._explored = explored
        self._output = Output(explored.baseline.recorded.recording)
        self._anew: dict[Key, Judged] = {}

    def of(self, discovery: Discovery, site: Site) -> tuple[Discovery, Judged | None]:
        (point,) = CrashPlan.parse(discovery.state.plan).points
        state = self._power.state(point)
        kind = likeness(discovery.violation)

        def alike(image: Image) -> list[Violation]:
            found = self._judged(image, site).violations
            return [each for each in found if likeness(each) == kind]

        smallest = fewest_losses(self._power, state, lambda each: bool(alike(self._image(each))))
        if smallest == state:
            return discovery, None
        image = self._image(smallest)
        smaller = replace(
            discovery,
            violation=alike(image)[0],
            state=replace(
                discovery.state,
                plan=str(CrashPlan((smallest.point,))),
                after=smallest.after,
            ),
            image=image,
        )
        return smaller, self._anew.get(image.key)

    def _image(self, state: PowerState) -> Image:
        tree = self._power.tree(state)
        printed = self._output.by(state.after)
        return Image(tree, printed, (tree.digest(), printed))

    def _judged(self, image: Image, site: Site) -> Judged:
        number = self._explored.images.numbers.get(image.key)
        if number is not None:
            return self._explored.judged[number]
        if image.key not in self._anew:
            self._anew[image.key] = site.judge(image, self._explored.baseline.trial)
        return self._anew[image.key]

"""Look again at what failed: the fewest losses that still fail, and a real kill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from resumeproof.crash.plan import CrashPlan
from resumeproof.crash.syscalls.minimal import fewest_losses
from resumeproof.crash.syscalls.power import PowerLoss, PowerState
from resumeproof.crash.syscalls.states import Output
from resumeproof.domain.verdict import Violation
from resumeproof.proof.commands.confirmation import Confirmation
from resumeproof.proof.commands.court import Court
from resumeproof.proof.commands.discoveries import Discovery, Likeness, grouped, likeness
from resumeproof.proof.commands.exploring import Explored
from resumeproof.proof.commands.images import Image
from resumeproof.proof.commands.site import Site

LOOKED_AT_MOST: Final = 25
"""So many kills, and so many power cuts, are looked at again; nobody reads more."""

NOT_LOOKED_AT: Final = f"only the first {LOOKED_AT_MOST} ways to fail were looked at again"


def discoveries(explored: Explored, court: Court) -> list[Discovery]:
    """What was found, kills first; each with what a second look says."""
    found = grouped(explored)
    kills = [each for each in found if not each.state.power]
    cuts = [each for each in found if each.state.power]
    return [*_confirmed(kills, explored, court), *_smallest(cuts, explored, court)]


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

    def reduce(site: Site, discovery: Discovery) -> Discovery:
        return reduction.of(discovery, site)

    merged: dict[tuple[str, Likeness], Discovery] = {}
    for each in [*court.each(cuts[:LOOKED_AT_MOST], reduce), *cuts[LOOKED_AT_MOST:]]:
        key = each.state.plan, likeness(each.violation)
        same = merged.get(key)
        states = each.states + (same.states if same else 0)
        merged[key] = replace(same or each, states=states)
    return list(merged.values())


class _Reduction:
    def __init__(self, power: PowerLoss, explored: Explored) -> None:
        self._power = power
        self._explored = explored
        self._output = Output(explored.baseline.recorded.recording)

    def of(self, discovery: Discovery, site: Site) -> Discovery:
        (point,) = CrashPlan.parse(discovery.state.plan).points
        state = self._power.state(point)
        kind = likeness(discovery.violation)

        def alike(image: Image) -> list[Violation]:
            found = self._violations(image, site)
            return [each for each in found if likeness(each) == kind]

        smallest = fewest_losses(self._power, state, lambda each: bool(alike(self._image(each))))
        if smallest == state:
            return discovery
        image = self._image(smallest)
        return replace(
            discovery,
            violation=alike(image)[0],
            state=replace(
                discovery.state, plan=str(CrashPlan((smallest.point,))), after=smallest.ordinal
            ),
            image=image,
        )

    def _image(self, state: PowerState) -> Image:
        tree = self._power.tree(state)
        printed = self._output.by(state.ordinal - state.in_flight)
        return Image(tree, printed, (tree.digest(), printed))

    def _violations(self, image: Image, site: Site) -> Sequence[Violation]:
        """What is wrong with an image; remembered where it was judged already."""
        number = self._explored.images.numbers.get(image.key)
        if number is not None:
            return self._explored.judged[number].violations
        return site.judge(image, self._explored.baseline.trial).violations

"""Kill the real program where a rebuilt state fails, and see whether what it leaves fails, too."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from resumeproof.crash.plan import CrashPlan
from resumeproof.crash.syscalls.killing import Killed, kill_at
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.states import KillState, kill_state
from resumeproof.proof.commands.command import Command, Scene
from resumeproof.proof.commands.discoveries import Discovery
from resumeproof.proof.commands.judge import Trial
from resumeproof.proof.commands.recorded import RECORDING_PATIENCE, Run
from resumeproof.proof.commands.site import Site


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Kills real programs. `runs` holds each recorded life by the plan of the deaths before it."""

    runs: Mapping[str, Run]
    trial: Trial

    def of(self, discovery: Discovery, site: Site) -> Discovery:
        """The discovery with what a real kill says of it."""
        points = CrashPlan.parse(discovery.state.plan).points
        run = self.runs[str(CrashPlan(points[:-1]))]
        if not run.recorded.recording.calls:
            return replace(discovery, confirmed=False, unconfirmed="it makes no durable call")
        state = kill_state(points[-1], run.recorded.recording)
        scene = site.lay_out(run.recorded.start, run.printed)
        try:
            killed = kill_in(scene, run.command, run.recorded.recording, state, self.trial)
            reason = killed.unconfirmed
            if reason is None:
                with scene.printed_file.open("ab") as printed:
                    printed.write(killed.life.stdout.encode())
                reason = self._denied(discovery, scene)
        finally:
            site.clear()
        return replace(discovery, confirmed=reason is None, unconfirmed=reason)

    def _denied(self, discovery: Discovery, scene: Scene) -> str | None:
        """Why what the kill has left does not bear the discovery out, None where it does."""
        found = self.trial.violations(scene)
        if any(each.kind is discovery.kind for each in found):
            return None
        if not found:
            return "the program was killed there, and was resumed without fault"
        return f"the program was killed there, and failed otherwise: {found[0].detail}"


def kill_in(
    scene: Scene, command: Command, recording: Recording, state: KillState, trial: Trial
) -> Killed:
    """Run a command in a scene that is as it was for the recording, and kill it at a state."""
    return kill_at(
        command.words(scene.directory),
        directory=scene.directory,
        recording=recording,
        ordinal=max(1, state.ordinal),
        when="after" if state.ordinal else "before",
        cut=state.cut,
        env=os.environ | scene.environment(),
        timeout_seconds=trial.timeout_seconds * RECORDING_PATIENCE,
    )

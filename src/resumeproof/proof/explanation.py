"""Says in words how the state of a plan comes about, be it a kill's or a power cut's."""

from __future__ import annotations

from collections.abc import Iterator

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.power import PowerLoss, PowerState, is_power_point
from resumeproof.crash.syscalls.states import UNCHANGING, KillState, kill_state
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.proof.losses import causes_of_loss, made_by, told


def explained(
    point: CrashPoint, recording: op.Recording, origin: Tree, power: PowerLoss | None
) -> tuple[str, ...]:
    """Return, line by line, how the state of a plan's point comes about.

    Raises `PlanRefused` for a point that the recording has no state for.
    """
    if power is None or not is_power_point(point):
        return (kill_in_words(recording, kill_state(point, recording)),)
    state = power.state(point)
    causes = causes_of_loss(recording, origin, state, power.tree(state))
    return (*map(str, causes), *_alone(recording, state))


def kill_in_words(recording: op.Recording, state: KillState) -> str:
    """Return between which calls the program died, and what that means for one file."""
    calls = [call for call in recording.calls if _changed(call.operation)]
    made = [call for call in calls if call.ordinal <= state.ordinal]
    rest = [call for call in calls if call.ordinal > state.ordinal]

    def say(call: op.Call) -> str:
        return told(call, made_by(call, recording))

    last = made[-1] if made else None
    if last is not None and state.cut is not None:
        assert isinstance(last.operation, op.Write), "only a write is torn"
        path, size = last.operation.path, len(last.operation.data)
        return f"{path}: the {size} bytes of {say(last)}, are torn after the first {state.cut}"
    if last is not None and isinstance(cut := last.operation, op.Truncate):
        for later in rest:
            if isinstance(later.operation, op.Write) and later.operation.inode == cut.inode:
                return (
                    f"{cut.path}: cut to {cut.size} bytes by {say(last)}, and written again only "
                    f"by {say(later)}"
                )
    to = [f"{say(call)}, to {_changed(call.operation)}" for call in (*made[-1:], *rest[:1])]
    if made and rest:
        return f"the program dies between {to[0]}, and {to[1]}"
    return f"the program dies {'after' if made else 'before'} {to[0]}" if to else "no call was made"


def _alone(recording: op.Recording, state: PowerState) -> Iterator[str]:
    """Say what another failure domain kept, made after what this one lost."""
    if state.domain is None:
        return
    root = recording.domains[state.domain] or "."
    yield f"{root}: lost its power alone"
    later = recording.calls[state.losses[0].ordinal : state.ordinal]
    for call in reversed(later):
        if call.domain != state.domain and (path := _changed(call.operation)):
            latest = told(call, made_by(call, recording))
            yield f"{path}: kept what was done to it meanwhile, up to {latest}"
            return


def _changed(operation: op.Operation) -> str | None:
    """Return the path that a call changes."""
    if isinstance(operation, op.Rename):
        return operation.target or operation.source
    return None if isinstance(operation, UNCHANGING) else getattr(operation, "path", None)

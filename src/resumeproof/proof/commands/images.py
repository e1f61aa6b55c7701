"""What crashes can leave: many states, and the fewer images that they come down to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.crash.syscalls.operations import Recording, Write
from resumeproof.crash.syscalls.power import PowerLoss, PowerState
from resumeproof.crash.syscalls.states import KillState, Output, kill_states
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import PlanRefused
from resumeproof.proof.commands.room import Room

Key = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Image:
    """A directory as bytes, and what CMD had printed by then: what any judge can know of a state.

    `key` is equal where both are.
    """

    tree: Tree
    printed: bytes
    key: Key


@dataclass(frozen=True, slots=True)
class State:
    """One place to crash. `after` counts the durable calls before it; `image` is what it leaves.

    `origins` counts the boundaries that leave this very state. `power`: the disk lost something
    that was not synced, at this death or at one before it.
    """

    plan: str
    after: int
    image: int
    origins: int = 1
    power: bool = False


@dataclass
class Images:
    """Distinct images in the order in which they were found, and the states that leave them."""

    images: list[Image] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    numbers: dict[Key, int] = field(default_factory=dict)
    room: Room = field(default_factory=Room)

    def number(self, tree: Tree, printed: bytes) -> int:
        """The number of an image, which is kept if it is new; `tree` may be changed afterwards.

        Raises `UsageRefused` where there are more than fit into memory.
        """
        key = (tree.digest(), printed)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.images)
            self.room.must_be_left(number)
            self.images.append(Image(tree.clone(), printed, key))
        return number

    def states_of(self) -> Sequence[list[State]]:
        """For each image the states that leave it."""
        listed: list[list[State]] = [[] for _ in self.images]
        for state in self.states:
            listed[state.image].append(state)
        return listed

    def only(self, plan: str) -> Images:
        """The state of one plan alone. Raises `PlanRefused` where there is none."""
        for state in self.states:
            if state.plan == plan:
                image = self.images[state.image]
                return Images([image], [replace(state, image=0)], {image.key: 0})
        raise PlanRefused(plan, "the program comes to no such state")


def killed(recording: Recording, start: Tree) -> Iterator[tuple[KillState, Tree, bytes]]:
    """Every state that a kill can leave, with its directory and what was printed by then.

    The directory is only lent: the next one is made of it.
    """
    output = Output(recording)
    tree, made = start.clone(), 0
    torn, kept = tree, 0
    for state in kill_states(recording):
        whole = state.ordinal if state.cut is None else state.ordinal - 1
        for call in recording.calls[made:whole]:
            tree.apply(call.operation)
        made = whole
        if state.cut is None:
            kept = 0
            yield state, tree, output.by(whole)
        else:
            write = recording.calls[whole].operation
            assert isinstance(write, Write), "only a write is torn"
            # Each goes on from the one before, whose pages it shares: a large write has many.
            torn = (torn if kept else tree).clone()
            piece = write.data[kept : state.cut]
            torn.apply(replace(write, offset=write.offset + kept, data=piece))
            kept = state.cut
            yield state, torn, output.by(whole)


def add_killed(
    images: Images,
    recording: Recording,
    start: Tree,
    *,
    before: tuple[CrashPoint, ...] = (),
    printed: bytes = b"",
    after: int = 0,
    power: bool = False,
) -> None:
    """Note the kill states of a recording, of a resume after the deaths `before` if there are any.

    `printed` is what those lives had printed, `after` how many calls they had made; `power`: the
    disk lost something at one of those deaths.
    """
    for state, tree, said in killed(recording, start):
        images.states.append(
            State(
                plan=str(CrashPlan((*before, state.point))),
                after=after + state.ordinal - (state.cut is not None),
                image=images.number(tree, printed + said),
                origins=state.stands_for,
                power=power,
            )
        )


def add_powerless(images: Images, recording: Recording, power: PowerLoss) -> None:
    """Note the states that a power cut can leave, and a kill cannot."""
    output = Output(recording)
    for state, tree in power:
        images.states.append(_cut(images, state, tree, output))


def add_cut(images: Images, recording: Recording, power: PowerLoss, point: CrashPoint) -> None:
    """Note the state of one power cut. Raises `PlanRefused` where there is none such."""
    state = power.state(point)
    images.states.append(_cut(images, state, power.tree(state), Output(recording)))


def _cut(images: Images, state: PowerState, tree: Tree, output: Output) -> State:
    return powerless(state, images.number(tree, output.by(state.after)))


def powerless(state: PowerState, image: int) -> State:
    """The state of a power cut that leaves an image."""
    return State(plan=str(CrashPlan((state.point,))), after=state.after, image=image, power=True)

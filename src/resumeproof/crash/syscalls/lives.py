"""Calls that make processes and threads, and change what their descriptors and paths mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from resumeproof.crash.syscalls import arguments
from resumeproof.crash.syscalls.contents import clone_range
from resumeproof.crash.syscalls.descriptors import Slot
from resumeproof.crash.syscalls.history import Step
from resumeproof.crash.syscalls.operations import Process

_CLOSES_ON_EXEC: Final = frozenset({"O_CLOEXEC", "FD_CLOEXEC", "F_DUPFD_CLOEXEC"})


def give_birth(step: Step) -> None:
    """fork(2), vfork(2), clone(2), clone3(2): the child is there before the call returns."""
    history, parent = step.history, step.tracee
    flags = arguments.flags(_clone_flags(step))
    index = len(history.processes)
    history.processes.append(
        Process(
            pid=step.returned,
            parent=parent.index,
            command_line=history.processes[parent.index].command_line,
            thread="CLONE_THREAD" in flags,
        )
    )
    history.tracees[step.returned] = parent.born(
        index,
        shares_descriptors="CLONE_FILES" in flags,
        shares_surroundings="CLONE_FS" in flags,
    )


def _clone_flags(step: Step) -> str:
    if step.call.name == "clone3":
        return arguments.field(step.argument(0), "flags")
    named = (part for part in step.parts if part.startswith("flags="))
    return next(named, "").removeprefix("flags=")


def execute(step: Step) -> None:
    step.tracee.executes()
    position = 2 if step.call.name == "execveat" else 1
    words = arguments.words(step.argument(position))
    processes, index = step.history.processes, step.tracee.index
    processes[index] = replace(processes[index], command_line=words)


def close(step: Step) -> None:
    number = step.integer(0)
    if number is not None:
        step.tracee.slots.pop(number, None)


def close_range(step: Step) -> None:
    first, last, flags = step.integer(0) or 0, step.integer(1), step.flags(2)
    if "CLOSE_RANGE_UNSHARE" in flags:
        step.tracee.unshare_descriptors()
    for number in list(step.tracee.slots):
        if number >= first and (last is None or number <= last):
            if "CLOSE_RANGE_CLOEXEC" in flags:
                step.tracee.slots[number].closes_on_exec = True
            else:
                del step.tracee.slots[number]


def duplicate(step: Step) -> None:
    said = arguments.descriptor(step.argument(0))
    if said is not None and said.number == step.returned:
        return  # dup2 of a descriptor to itself does nothing
    closes = bool(step.flags(2) & _CLOSES_ON_EXEC)
    step.tracee.slots[step.returned] = Slot(step.description(0), closes)


def control(step: Step) -> None:
    """fcntl(2)."""
    match step.argument(1):
        case "F_DUPFD" | "F_DUPFD_CLOEXEC" as command:
            description = step.description(0)
            step.tracee.slots[step.returned] = Slot(description, command in _CLOSES_ON_EXEC)
        case "F_SETFD":
            _closes_on_exec(step, bool(step.flags(2) & _CLOSES_ON_EXEC))
        case "F_SETFL":
            # O_SYNC cannot be changed by it, fcntl(2).
            step.description(0).appends = "O_APPEND" in step.flags(2)
        case _:
            return


def control_device(step: Step) -> None:
    """ioctl(2)."""
    match step.argument(1):
        case "FIOCLEX":
            _closes_on_exec(step, True)
        case "FIONCLEX":
            _closes_on_exec(step, False)
        case "FICLONE" | "BTRFS_IOC_CLONE or FICLONE":
            clone_range(step, step.description(2))
        case "FICLONERANGE" | "BTRFS_IOC_CLONE_RANGE or FICLONERANGE":
            number = step.description(0).number
            if number is not None:
                step.history.uncovered(f"a cloned range of {step.places.path_of(number)}")
        case _:
            return


def _closes_on_exec(step: Step, closes: bool) -> None:
    step.description(0)
    number = step.integer(0)
    if number is not None and number in step.tracee.slots:
        step.tracee.slots[number].closes_on_exec = closes


def change_directory(step: Step) -> None:
    place = step.place(None, 0)
    if place is None:
        return
    number = step.places.number_at(place)
    inside = number is not None
    folder = number if inside else None
    if folder is not None:
        step.tracee.surroundings.folder = folder
    elif isinstance(place.folder, str):
        step.tracee.surroundings.folder = step.places.outside_path(place)


def change_directory_opened(step: Step) -> None:
    folder = step.folder(0)
    if folder is not None:
        step.tracee.surroundings.folder = folder


def change_mask(step: Step) -> None:
    step.tracee.surroundings.mask = arguments.permissions(step.argument(0)) & 0o777


def unshare(step: Step) -> None:
    flags = step.flags(0)
    if "CLONE_FILES" in flags:
        step.tracee.unshare_descriptors()
    if flags & {"CLONE_FS", "CLONE_NEWNS", "CLONE_NEWUSER"}:
        step.tracee.surroundings = step.tracee.surroundings.copy()


def changes_root(step: Step) -> None:
    step.history.uncovered(f"{step.call.name}: paths mean something else from there on")


def name_socket(step: Step) -> None:
    """bind(2): a socket's name outlives whoever made it, unix(7)."""
    named = arguments.path(arguments.field(step.argument(1), "sun_path"))
    if named is None:
        return  # of another family, or an abstract name, which is in no directory
    place = step.places.resolve(step.tracee.surroundings.folder, named, follow=False)
    if place is None:
        return
    inside = step.places.path_at(place)
    if inside is not None:
        step.history.uncovered(f"a socket, which a crash leaves behind: {inside}")
    elif isinstance(place.folder, str):
        step.history.wrote_outside(step.places.outside_path(place))


def writes_by_itself(step: Step) -> None:
    step.history.uncovered(f"{step.call.name}: writes that are handed to the kernel in memory")


BIRTHS: Final = frozenset({"fork", "vfork", "clone", "clone3"})

AT_BEGINNING: Final[dict[str, Callable[[Step], None]]] = {
    "close": close,
    **dict.fromkeys(BIRTHS, give_birth),
}
"""What takes effect as soon as it has begun, for all that others can see."""

LIVES: Final[dict[str, Callable[[Step], None]]] = {
    "execve": execute,
    "execveat": execute,
    "close_range": close_range,
    "dup": duplicate,
    "dup2": duplicate,
    "dup3": duplicate,
    "fcntl": control,
    "ioctl": control_device,
    "chdir": change_directory,
    "fchdir": change_directory_opened,
    "umask": change_mask,
    "unshare": unshare,
    "chroot": changes_root,
    "pivot_root": changes_root,
    "mount": changes_root,
    "bind": name_socket,
    "io_uring_setup": writes_by_itself,
    "io_submit": writes_by_itself,
}
"""What each of these calls means, by its name."""

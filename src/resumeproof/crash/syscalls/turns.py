"""Calls without effect that would have one, or fail, if another process had come first."""

from __future__ import annotations

from typing import Final

from resumeproof.crash.syscalls.history import Step
from resumeproof.crash.syscalls.names import NAMES
from resumeproof.crash.syscalls.opening import OPENING

LOCKS: Final = frozenset({"flock"})

_LOCKING: Final = frozenset(
    {"F_SETLK", "F_SETLKW", "F_SETLK64", "F_SETLKW64", "F_OFD_SETLK", "F_OFD_SETLKW"}
)
PATHS: Final[dict[str, tuple[tuple[int | None, int], ...]]] = {
    "open": ((None, 0),),
    "creat": ((None, 0),),
    "openat": ((0, 1),),
    "openat2": ((0, 1),),
    "mknod": ((None, 0),),
    "mknodat": ((0, 1),),
    "rename": ((None, 0), (None, 1)),
    "renameat": ((0, 1), (2, 3)),
    "renameat2": ((0, 1), (2, 3)),
    "link": ((None, 0), (None, 1)),
    "linkat": ((0, 1), (2, 3)),
    "symlink": ((None, 1),),
    "symlinkat": ((1, 2),),
    "unlink": ((None, 0),),
    "unlinkat": ((0, 1),),
    "rmdir": ((None, 0),),
    "mkdir": ((None, 0),),
    "mkdirat": ((0, 1),),
}
"""Where the paths of a call stand: the directory's argument, if there is one, and the path's."""

assert PATHS.keys() == OPENING.keys() | NAMES.keys()


def contends(step: Step) -> bool:
    """Whether a call's outcome may hang on what other processes have done by then."""
    name = step.call.name
    if name in LOCKS or (name == "fcntl" and step.argument(1) in _LOCKING):
        return True
    return any(_may_be_inside(step, *at) for at in PATHS.get(name, ()))


def _may_be_inside(step: Step, folder: int | None, path: int) -> bool:
    place = step.place(folder, path, follow=False)
    return place is None or isinstance(place.folder, int)

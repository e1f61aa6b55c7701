"""Broken: something of them outlives them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from resumeproof.domain.verdict import FindingKind
from resumeproof.lab.catalogue.booking import Booking
from resumeproof.lab.catalogue.entry import ANYWHERE, broken

LONGER_THAN_ANY_PROOF_SECONDS = "600"


class LeavesChild(Booking):
    """Ends its child process in `finally`: the child of a killed one lives on."""

    def book(self, job: str) -> None:
        self.beside_child(job, inherited=())

    def beside_child(self, job: str, inherited: Sequence[int]) -> None:
        child = subprocess.Popen(
            ["sleep", LONGER_THAN_ANY_PROOF_SECONDS],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=inherited,
            start_new_session=True,
        )
        try:
            super().book(job)
        finally:
            child.kill()
            child.wait()


class LeavesLockedChild(LeavesChild):
    """Lets its child inherit a kernel lock: the child of a killed one keeps it."""

    def book(self, job: str) -> None:
        import fcntl  # POSIX only, as the child's inheritance is

        with (self.ctx.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.beside_child(job, inherited=(lock.fileno(),))


ENTRIES = (
    broken(LeavesChild, FindingKind.ORPHAN_PROCESS, ANYWHERE),
    broken(
        LeavesLockedChild,
        FindingKind.LOCK_LEAKED,
        ANYWHERE,
        also=(FindingKind.ORPHAN_PROCESS,),
    ),
)

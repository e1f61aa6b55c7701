"""What is said of a recording beside what was found."""

from __future__ import annotations

from resumeproof.crash.syscalls.operations import Recording
from resumeproof.proof.commands.notes import notes_of


def test_processes_of_one_command_that_were_left_running_are_told_of_once() -> None:
    recording = Recording((), (), {}, 0, left_running=("serve", "watch", "watch"))
    assert list(notes_of(recording)) == [
        "it left a process running, which was ended with it: serve",
        "it left 2 processes running, all ended with it: watch",
    ]

"""Workers side by side: heard to their last word, whatever they have started, and never beyond."""

from __future__ import annotations

import os
import signal

import pytest

from resumeproof.crash.adoption import own_children
from resumeproof.errors import WorkerDied
from resumeproof.proof.crew import Crew, Message, Report, Task

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux tells of a death")


def leaves_a_daemon_behind() -> None:
    """It holds whatever its parent had open, for as long as nobody ends it."""
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.write(write_end, b"!")
        signal.pause()
    os.read(read_end, 1)


def after_a_daemon(word: str) -> Task:
    def task(report: Report) -> object:
        leaves_a_daemon_behind()
        report(word)
        return word.upper()

    return task


def test_a_worker_is_done_with_its_last_word_although_a_daemon_holds_its_pipe() -> None:
    before = own_children()
    said = sorted(
        Crew().run([after_a_daemon("a"), after_a_daemon("b")]),
        key=lambda message: (message.worker, message.done),
    )
    assert said == [
        Message(0, False, "a"),
        Message(0, True, "A"),
        Message(1, False, "b"),
        Message(1, True, "B"),
    ]
    assert own_children() == before


def dies_by_a_signal(report: Report) -> object:
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def leaves_early(report: Report) -> object:
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("death", "how"),
    [(dies_by_a_signal, "signal 9 (SIGKILL)"), (leaves_early, "exit 1")],
    ids=["signal", "exit"],
)
def test_a_worker_that_died_is_told_of_although_a_daemon_holds_its_pipe(
    death: Task, how: str
) -> None:
    def task(report: Report) -> object:
        leaves_a_daemon_behind()
        report("so far")
        return death(report)

    before = own_children()
    said = Crew().run([task])
    assert next(said) == Message(0, False, "so far")
    with pytest.raises(WorkerDied) as died:
        next(said)
    assert died.value.how == how
    assert own_children() == before


def test_a_worker_that_ended_well_before_its_last_word_is_told_of() -> None:
    def task(report: Report) -> object:
        os.execvp("true", ["true"])

    with pytest.raises(WorkerDied) as died:
        list(Crew().run([task]))
    assert died.value.how == "exit 0"

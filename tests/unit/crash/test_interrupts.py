"""An interrupt that comes while it is held back comes when it is let through, and not before."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest

from resumeproof.crash.interrupts import InterruptsHeld


def held_and_released(reached: list[str]) -> None:
    with InterruptsHeld() as held:
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("held")
        held.release()
        reached.append("let through too late")


def held_to_the_end(reached: list[str]) -> None:
    with InterruptsHeld():
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("held")
    reached.append("let through too late")


@pytest.mark.parametrize("work", [held_and_released, held_to_the_end])
def test_it_waits_for_the_release(work: Callable[[list[str]], None]) -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work(reached)
    assert (reached, signal.getsignal(signal.SIGINT)) == (["held"], signal.default_int_handler)


def test_without_an_interrupt_nothing_happens() -> None:
    with InterruptsHeld() as held:
        held.release()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_holds_nothing() -> None:
    handlers = []

    def hold() -> None:
        with InterruptsHeld():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]

"""Lives that a process of its own forks: what is ordered, what is heard, and what is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from resumeproof.crash import forked
from resumeproof.crash.adoption import own_children
from resumeproof.crash.channel import LifeChannel, send_copy_to_death
from resumeproof.crash.forked import BoundaryNotice, LifeHost
from resumeproof.crash.forker import READ_BYTES
from resumeproof.crash.kill import Kill
from resumeproof.errors import WorkerDied

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="lives are forked on POSIX only")

PATIENCE_SECONDS = 60.0


def told(order: Any) -> Callable[[LifeChannel], object]:
    """A life that brings its order back."""
    return lambda channel: order


def test_an_order_of_any_size_arrives_whole_and_with_its_descriptors() -> None:
    orders = ["", "x" * READ_BYTES, b"y" * (5 * READ_BYTES)]
    with LifeHost(told) as host:
        lives = [host.run(order, timeout_seconds=PATIENCE_SECONDS) for order in orders]
    assert [(life.outcome, life.exit.text, life.ended) for life in lives] == [
        (order, "exit 0", True) for order in orders
    ]


def test_what_the_host_does_afterwards_no_life_sees() -> None:
    seen: list[str] = []
    with LifeHost(lambda order: lambda channel: list(seen)) as host:
        seen.append("told too late")
        life = host.run(None, timeout_seconds=PATIENCE_SECONDS)
    assert life.outcome == []


def test_a_life_is_run_while_another_stands_at_its_boundary() -> None:
    def body_of(order: str) -> Callable[[LifeChannel], object]:
        def outer(channel: LifeChannel) -> str:
            channel.stand_at("here", 1, None)
            return "outer"

        return outer if order == "outer" else lambda channel: "inner"

    notices: list[BoundaryNotice] = []
    inner = []
    with LifeHost(body_of) as host:

        def stand(notice: BoundaryNotice) -> None:
            notices.append(notice)
            inner.append(host.run("inner", timeout_seconds=PATIENCE_SECONDS).outcome)

        life = host.run("outer", timeout_seconds=PATIENCE_SECONDS, at_boundary=stand)
    assert (life.outcome, inner, notices) == ("outer", ["inner"], [BoundaryNotice("here", 1, None)])


def test_a_life_that_kills_its_forker_is_told_as_such_and_nothing_is_left() -> None:
    before = own_children()

    def murder(channel: LifeChannel) -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        channel.stand_at("after it", 1, None)

    with (
        LifeHost(lambda order: murder) as host,
        pytest.raises(WorkerDied, match=r"signal 9 \(SIGKILL\)"),
    ):
        host.run(None, timeout_seconds=PATIENCE_SECONDS)
    assert own_children() == before


@pytest.mark.parametrize("goes_on", [False, True], ids=["ends", "goes on"])
def test_a_life_that_stops_its_forker_is_told_as_such_and_nothing_is_left(
    goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forked, "_DEATH_SECONDS", 0.05)
    before = own_children()

    def stop(channel: LifeChannel) -> None:
        os.kill(os.getppid(), signal.SIGSTOP)
        if goes_on:
            signal.pause()

    with (
        LifeHost(lambda order: stop) as host,
        pytest.raises(WorkerDied, match=r"signal 9 \(SIGKILL\)"),
    ):
        host.run(None, timeout_seconds=0.5)
    assert own_children() == before


def test_a_life_that_hangs_is_killed_in_time() -> None:
    def hang(channel: LifeChannel) -> None:
        read_end, _ = os.pipe()
        os.read(read_end, 1)

    with LifeHost(lambda order: hang) as host:
        life = host.run(None, timeout_seconds=0.05)
    assert (life.timed_out, life.exit.text) == (True, "signal 9 (SIGKILL)")


def test_a_planned_death_leaves_its_witness() -> None:
    def dies(channel: LifeChannel) -> None:
        channel.die_at("effect:after", 3, Kill.EXIT86)

    with LifeHost(lambda order: dies) as host:
        life = host.run(None, timeout_seconds=PATIENCE_SECONDS)
    assert (life.exit.text, life.witness, life.ended) == ("exit 86", ("effect:after", 3), False)


@pytest.mark.parametrize("kill", Kill, ids=str)
def test_a_copy_dies_as_told_and_runs_no_line_of_the_subjects(kill: Kill) -> None:
    def copied(channel: LifeChannel) -> tuple[int, bytes]:
        read_end, write_end = os.pipe()
        os.register_at_fork(after_in_child=lambda: os.write(write_end, b"a hook"))
        status = send_copy_to_death(kill)
        os.close(write_end)
        return os.waitstatus_to_exitcode(status), os.read(read_end, READ_BYTES)

    with LifeHost(lambda order: copied) as host:
        life = host.run(None, timeout_seconds=PATIENCE_SECONDS)
    assert life.outcome == (kill.returncode, b"")


def test_what_outlives_a_life_is_found_and_ended() -> None:
    def leaves(channel: LifeChannel) -> int:
        read_end, _ = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            os.read(read_end, 1)
        return pid

    with LifeHost(lambda order: leaves) as host:
        life = host.run(None, timeout_seconds=PATIENCE_SECONDS)
    assert life.orphans == (life.outcome,)
    with pytest.raises(ProcessLookupError):
        os.kill(life.outcome, 0)


def test_an_interrupted_host_leaves_no_life() -> None:
    def stands(channel: LifeChannel) -> None:
        channel.stand_at("here", 1, None)

    def interrupt(notice: BoundaryNotice) -> None:
        raise KeyboardInterrupt

    before = own_children()
    with pytest.raises(KeyboardInterrupt), LifeHost(lambda order: stands) as host:
        host.run(None, timeout_seconds=PATIENCE_SECONDS, at_boundary=interrupt)
    assert own_children() == before

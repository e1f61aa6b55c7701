"""Processes that call one ledger at once, or die while they do."""

from __future__ import annotations

import re
import shutil
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from resumeproof.stores.sqlite_ledger import SqliteLedger
from tests.unit.stores.ledgers import (
    IDEMPOTENT,
    REPEATING,
    Clock,
    Says,
    asked,
    created,
    numbered,
    says,
)
from tests.unit.stores.toy import Child, is_at_rest

CALL = """
import signal
from resumeproof.stores.sqlite_ledger import SqliteLedger
from tests.unit.stores.ledgers import Clock, asked
workflow_id, attempt = sys.argv[2], int(sys.argv[3])

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at_commit(statement):
    if statement == "COMMIT":
        die()

names = iter(range(1000))
with SqliteLedger.open(
    path, now=Clock(), new_id=lambda kind: f"{kind}-{os.getpid()}-{next(names)}"
) as ledger:
"""
CALL_TOGETHER = (
    CALL
    + """
    say("ready")
    hear()
    try:
        answer = ledger.call(asked(workflow_id, attempt))
        say(f"{answer.receipt.receipt_id} {answer.replayed}")
    except ResumeproofError as error:
        say(error.code)
"""
)
CALL_AND_DIE = {
    "at-the-clock": CALL + "    ledger._now = die\n",
    "at-the-id": CALL + "    ledger._new_id = die\n",
    "at-the-commit": CALL + "    ledger.database.connection.set_trace_callback(die_at_commit)\n",
}
CALLS = (
    CALL
    + """
    for attempt in range(1, 4):
        os.write(1, b"attempt")
        ledger.call(asked(workflow_id, attempt))
    os.write(1, b"done")
"""
)


def registered(path: Path, *workflow_ids: str, idempotent: bool = True) -> Path:
    with SqliteLedger.open(created(path), now=Clock(), new_id=numbered()) as ledger:
        for workflow_id in workflow_ids:
            ledger.register(workflow_id, IDEMPOTENT if idempotent else REPEATING, fail_before=0)
    return path


def called_together(path: Path, callers: list[tuple[str, int]]) -> list[str]:
    """What callers in processes of their own are told when all call at once."""
    with ExitStack() as stack:
        children = [
            stack.enter_context(Child(CALL_TOGETHER, path, workflow_id, str(attempt)))
            for workflow_id, attempt in callers
        ]
        for child in children:
            child.expect("ready")
        for child in children:
            child.tell()
        ends = [child.end() for child in children]
    assert [(status, err) for status, _, err in ends] == [(0, "")] * len(callers)
    return [out for _, out, _ in ends]


def test_eight_processes_with_one_key_make_one_effect(tmp_path: Path) -> None:
    workflow_ids = [f"wf-{number}" for number in range(8)]
    path = registered(tmp_path / "ledger.sqlite3", *workflow_ids)
    answers = called_together(path, [(workflow_id, 1) for workflow_id in workflow_ids])
    with SqliteLedger.open_reader(path) as ledger:
        effects = [effect.receipt.receipt_id for effect in ledger.effects()]
        outcomes = sorted(invocation.outcome for invocation in ledger.invocations())
    assert (len(effects), sorted(answers), outcomes, is_at_rest(path)) == (
        1,
        [f"{effects[0]} False"] + [f"{effects[0]} True"] * 7,
        ["applied"] + ["replayed"] * 7,
        True,
    )


def test_one_attempt_from_two_processes_is_repeated_once(tmp_path: Path) -> None:
    path = registered(tmp_path / "ledger.sqlite3", "wf-1", idempotent=False)
    answers = called_together(path, [("wf-1", 1), ("wf-1", 1)])
    with SqliteLedger.open_reader(path) as ledger:
        receipt_id = next(ledger.effects()).receipt.receipt_id
        assert (sorted(answers), says(ledger)) == (
            ["attempt_repeated", f"{receipt_id} False"],
            Says((("wf-1", 1, "key-1"),), (("wf-1", 1, "applied", 1),)),
        )


@pytest.mark.parametrize("code", CALL_AND_DIE.values(), ids=CALL_AND_DIE.keys())
def test_death_before_the_commit_leaves_neither_invocation_nor_effect(
    tmp_path: Path, code: str
) -> None:
    path = registered(tmp_path / "ledger.sqlite3", "wf-1")
    with Child(code + "    ledger.call(asked(workflow_id, attempt))\n", path, "wf-1", "1") as child:
        ended = child.end()
    with SqliteLedger.open(path, now=Clock(), new_id=numbered()) as ledger:
        left = says(ledger)
        again = ledger.call(asked(attempt=1))
    assert (ended, left, again.replayed) == ((-signal.SIGKILL, "", ""), Says(), False)


@pytest.mark.skipif(shutil.which("strace") is None, reason="counted with strace")
def test_call_costs_one_sync(tmp_path: Path) -> None:
    path = registered(tmp_path / "ledger.sqlite3", "wf-1")
    trace = tmp_path / "trace"
    wrap = ("strace", "-f", "-e", "trace=write,fsync,fdatasync", "-o", str(trace))
    with Child(CALLS, path, "wf-1", "0", wrap=wrap) as child:
        assert child.end()[0] == 0
    _, *calls = re.split(r'write\(1, "attempt"', trace.read_text())
    calls[-1] = calls[-1].partition('write(1, "done"')[0]
    # The first commit after opening also writes, and syncs, the header of the WAL.
    assert [call.count("sync(") for call in calls[1:]] == [1, 1]

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resumeproof.errors import ForkedHandle
from resumeproof.stores.birth import create
from resumeproof.stores.opening import open_reader, open_writer
from resumeproof.stores.sqlite import Database
from tests.unit.stores.toy import TOY, Child, add, seed, texts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Database]:
    with open_writer(path, TOY) as store:
        yield store


def in_a_fork(act: Callable[[], object]) -> str:
    """What `act` raises, or returns, in a forked child that then ends at once."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = str(act())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as stream:
        said = stream.read()
    assert os.waitpid(pid, 0)[1] == 0
    return said.replace(str(pid), "CHILD").replace(str(os.getpid()), "PARENT")


CROSSED = "was opened in process PARENT and cannot be used in its fork CHILD"


@pytest.mark.parametrize("use", ["rows", "execute", "transaction", "open again", "read again"])
def test_a_handle_cannot_be_used_in_a_fork(store: Database, path: Path, use: str) -> None:
    acts: dict[str, Callable[[], object]] = {
        "rows": lambda: store.rows("SELECT 1"),
        "execute": lambda: store.execute("DELETE FROM fact"),
        "transaction": lambda: store.transaction().__enter__(),
        "open again": lambda: open_writer(path, TOY),
        "read again": lambda: open_reader(path, TOY),
    }
    assert in_a_fork(acts[use]) == f"ForkedHandle: ledger {path} {CROSSED}"


def test_a_fork_in_the_middle_of_a_transaction_neither_commits_nor_rolls_back(
    store: Database,
) -> None:
    with store.transaction():
        add(store, "a")

        def leave() -> None:
            with store.transaction():
                pass

        said = in_a_fork(leave), in_a_fork(store.close)
    assert (said[0].split(":")[0], said[1], texts(store)) == (
        ForkedHandle.__name__,
        "None",
        ["seed", "a"],
    )


def test_closing_in_a_fork_leaves_the_parent_its_locks(store: Database, path: Path) -> None:
    code = """
try:
    open_writer(path, TOY, busy_timeout_seconds=0.05).close()
finally:
    say("rest" if path.read_bytes()[18:20] == bytes([1, 1]) else "live")
"""
    in_a_fork(store.close)
    with Child(code, path) as other:
        assert other.end() == (0, "live", "")


FORK_THAT_OUTLIVES = """
store = open_writer(path, TOY)
store.execute("INSERT INTO fact (text) VALUES ('second')")
reading, writing = os.pipe()
if os.fork() == 0:
    os.close(writing)
    os.read(reading, 1)
    sys.exit()
say("forked")
hear()
"""


def test_a_fork_that_ends_in_order_does_not_close_what_its_dead_parent_opened(path: Path) -> None:
    wal = path.with_name(path.name + "-wal")
    with Child(FORK_THAT_OUTLIVES, path) as child:
        child.expect("forked")
        before = wal.read_bytes()
        assert child.kill() == -signal.SIGKILL
        # Its standard output ends when the last of the family does.
        assert child.process.stdout is not None
        assert child.process.stdout.read() == ""
    assert (len(before) > 0, wal.read_bytes()) == (True, before)

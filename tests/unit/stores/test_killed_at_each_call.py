"""Kill a process at every system call by which it changes a store, and look at what is left."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from resumeproof.stores.birth import create
from resumeproof.stores.opening import open_reader, open_writer
from tests.unit.stores.toy import TOY, Child, facts, files, is_at_rest, seed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.crash,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace kills at system calls"),
]

CREATE = """
create(path, TOY, seed=seed)
say("done")
"""
WRITE = """
with open_writer(path, TOY) as store:
    with store.transaction():
        store.execute("INSERT INTO fact (text) VALUES ('second')")
    say("committed")
say("done")
"""


def killed_at_each(call: str, code: str, path: Path) -> Iterator[str]:
    """Yield after each death what the child had said, until a child ends by itself.

    strace counts each system call by itself, and kills before the call is carried out.
    """
    for count in range(1, 200):
        strace = (
            "strace",
            "-qq",
            "-e",
            f"inject={call}:signal=KILL:when={count}",
            "-o",
            "/dev/null",
        )
        with Child(code, path, wrap=strace) as child:
            status, said, error = child.end()
        if status == 0:
            assert count > 1, f"{call} was never called"
            return
        assert (status, error) == (-signal.SIGKILL, "")
        yield said
    raise AssertionError(f"{call} is called without end")


@pytest.mark.parametrize("call", ["pwrite64", "fsync", "link", "unlink"])
def test_a_killed_creator_leaves_nothing_or_a_good_store(tmp_path: Path, call: str) -> None:
    path = tmp_path / "store.sqlite3"
    for said in killed_at_each(call, CREATE, path):
        assert said == ""
        if path.exists():
            open_writer(path, TOY).close()
        else:
            assert create(path, TOY, seed=seed)
        assert (list(files(tmp_path)), facts(path)) == ([path.name], ["seed"])
        path.unlink()


@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "ftruncate", "unlink"])
def test_a_killed_writer_loses_no_commit_and_its_store_is_read_as_it_lies(
    tmp_path: Path, call: str
) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    born = path.read_bytes()
    for said in killed_at_each(call, WRITE, path):
        left = files(tmp_path)
        with open_reader(path, TOY) as store:
            read = [text for (text,) in store.rows("SELECT text FROM fact ORDER BY id")]
        assert files(tmp_path) == left
        open_writer(path, TOY).close()
        promised = ["seed", "second"] if "committed" in said else read
        assert (read, facts(path), is_at_rest(path)) == (promised, promised, True)
        path.write_bytes(born)

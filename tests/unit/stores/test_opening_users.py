from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from resumeproof.stores.birth import create
from resumeproof.stores.opening import open_writer
from tests.unit.stores.toy import HOLD_OPEN, TOY, Child, add, facts, files, is_at_rest, seed

NOBODY = 65534
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users and modes are POSIX")


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that every user of the machine may enter."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        yield directory
        directory.chmod(0o755)


READ_ONCE = """
with open_reader(path, TOY) as store:
    say(" ".join(text for (text,) in store.rows("SELECT text FROM fact ORDER BY id")))
"""


def as_an_ordinary_user() -> int | None:
    return NOBODY if os.geteuid() == 0 else None


@pytest.mark.parametrize("left", ["at rest", "by a death"])
def test_an_ordinary_user_reads_in_a_read_only_directory(public: Path, left: str) -> None:
    path = public / "store.sqlite3"
    create(path, TOY, seed=seed)
    if left == "by a death":
        with Child(HOLD_OPEN, path) as child:
            child.expect("open")
            child.tell()
            child.expect("committed")
            child.kill()
    public.chmod(0o555)
    before = files(public)
    with Child(READ_ONCE, path, user=as_an_ordinary_user()) as child:
        ended = child.end()
    expected = "seed" if left == "at rest" else "seed second"
    assert (ended, files(public)) == ((0, expected, ""), before)


@pytest.mark.skipif(as_an_ordinary_user() is None, reason="needs a second user")
def test_an_ordinary_user_reads_what_another_user_is_writing(public: Path) -> None:
    path = public / "store.sqlite3"
    create(path, TOY, seed=seed)
    with open_writer(path, TOY) as writer:
        add(writer, "second")
        with Child(READ_ONCE, path, user=NOBODY) as child:
            ended = child.end()
    assert (ended, is_at_rest(path)) == ((0, "seed second", ""), True)


OPEN_WRITER = """
try:
    open_writer(path, TOY).close()
except ResumeproofError as error:
    say(str(error))
"""


@pytest.mark.parametrize("mode", [0o755, 0o555], ids=["read-only file", "read-only directory"])
def test_where_nothing_may_be_written_a_writer_is_told_and_nothing_changes(
    public: Path, mode: int
) -> None:
    path = public / "store.sqlite3"
    create(path, TOY, seed=seed)
    path.chmod(0o444 if mode == 0o755 else 0o666)
    public.chmod(mode)
    before = files(public)
    with Child(OPEN_WRITER, path, user=as_an_ordinary_user()) as child:
        status, said, error = child.end()
    assert (status, said.split(": ")[0], error, files(public)) == (
        0,
        f"ledger {path} is not available",
        "",
        before,
    )


def test_an_unreadable_file_is_refused(public: Path) -> None:
    path = public / "store.sqlite3"
    create(path, TOY, seed=seed)
    path.chmod(0o200)
    with Child(OPEN_WRITER, path, user=as_an_ordinary_user()) as child:
        assert child.end() == (0, f"ledger {path} refused: permission denied", "")


def test_a_birth_name_that_cannot_be_removed_is_an_error_with_facts(public: Path) -> None:
    path = public / "store.sqlite3"
    create(path, TOY, seed=seed)
    (public / ".store.sqlite3.1-2.birth").hardlink_to(path)
    public.chmod(0o555)
    before = files(public)
    with Child(OPEN_WRITER, path, user=as_an_ordinary_user()) as child:
        ended = child.end()
    said = f"ledger {path} is not available: permission denied"
    assert (ended, files(public)) == ((0, said, ""), before)


CREATE = """
try:
    create(path, TOY, seed=seed)
except ResumeproofError as error:
    say(str(error))
"""


@pytest.mark.parametrize("mode", [0o333, 0o1777], ids=["unreadable", "sticky"])
def test_a_directory_in_which_no_store_can_be_born_keeps_what_it_had(
    public: Path, mode: int
) -> None:
    path = public / "store.sqlite3"
    # In a sticky directory nobody but its owner may remove it.
    (public / ".store.sqlite3.1-2.birth").touch()
    before = files(public)
    public.chmod(mode)
    with Child(CREATE, path, user=as_an_ordinary_user()) as child:
        ended = child.end()
    public.chmod(0o755)
    said = f"ledger {path} is not available: "
    if mode == 0o333:
        said += "permission denied"
    elif as_an_ordinary_user() is not None:
        said += "operation not permitted"
    else:
        said = ""
    assert ended == (0, said, "")
    if said:
        assert files(public) == before


@pytest.mark.skipif(as_an_ordinary_user() is None, reason="needs a second user")
@pytest.mark.parametrize("mode", [0o755, 0o1777], ids=["read-only", "sticky"])
def test_a_log_that_may_not_be_removed_is_emptied(public: Path, mode: int) -> None:
    path = public / "store.sqlite3"
    create(path, TOY, seed=seed)
    with Child(HOLD_OPEN, path) as child:
        child.expect("open")
        child.tell()
        child.expect("committed")
        child.kill()
    for file in public.iterdir():
        file.chmod(0o666)
    public.chmod(mode)
    with Child(OPEN_WRITER, path, user=NOBODY) as child:
        assert child.end() == (0, "", "")
    assert (public / "store.sqlite3-wal").read_bytes() == b""
    with Child(READ_ONCE, path, user=NOBODY) as child:
        assert child.end() == (0, "seed second", "")
    open_writer(path, TOY).close()
    assert facts(path) == ["seed", "second"]

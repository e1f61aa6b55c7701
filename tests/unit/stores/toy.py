"""A toy kind of store, and real processes that open it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

from resumeproof.stores.kind import StoreKind
from resumeproof.stores.sqlite import Database

ROOT = Path(__file__).parents[3]
SCHEMA_1 = """\
CREATE TABLE fact (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE CHECK (text <> '')
) STRICT;

CREATE TRIGGER fact_is_never_deleted BEFORE DELETE ON fact
BEGIN
    SELECT RAISE(ABORT, 'fact is append-only');
END;
"""
SCHEMA_2 = SCHEMA_1 + "CREATE INDEX fact_by_text ON fact (text);\n"
TOY = StoreKind("ledger", 0x746F7901, 1, lambda: SCHEMA_1)
TOY_2 = StoreKind(
    "ledger",
    0x746F7901,
    2,
    lambda: SCHEMA_2,
    (lambda: "CREATE INDEX fact_by_text ON fact (text);\n",),
)


def seed(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO fact (text) VALUES ('seed')")


def add(store: Database, *texts: str) -> int:
    return store.execute_many("INSERT INTO fact (text) VALUES (?)", ([text] for text in texts))


def texts(store: Database) -> list[str]:
    return [row["text"] for row in store.each("SELECT text FROM fact ORDER BY id")]


def files(directory: Path) -> dict[str, bytes]:
    """Every file of a directory, with its bytes."""
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir()) if path.is_file()}


def facts(path: Path) -> list[str]:
    """The texts of a store at rest, by SQLite alone, which must find the file whole."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [text for (text,) in connection.execute("SELECT text FROM fact ORDER BY id")]
    finally:
        connection.close()


def is_at_rest(path: Path) -> bool:
    """One file, whose header says DELETE."""
    beside = [name for name in files(path.parent) if name.startswith(path.name)]
    return beside == [path.name] and path.read_bytes()[18:20] == b"\1\1"


PROLOGUE = """\
from __future__ import annotations
import os, sqlite3, sys
from pathlib import Path
from resumeproof.errors import ResumeproofError
from resumeproof.stores.birth import create
from resumeproof.stores.opening import open_reader, open_writer
from tests.unit.stores.toy import TOY, TOY_2, seed

path = Path(sys.argv[1])
user = int(os.environ["TOY_USER"])
if user:
    # The interpreter itself may lie where that user cannot go: import first what is imported late.
    import fcntl, shutil, struct, tempfile
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)

def say(word):
    print(word, flush=True)

def hear():
    sys.stdin.readline()

"""

HOLD_OPEN = """
store = open_writer(path, TOY)
say("open")
hear()
with store.transaction():
    store.execute("INSERT INTO fact (text) VALUES ('second')")
say("committed")
hear()
store.close()
say("closed")
"""


class Child:
    """A process that runs `code` on the store at `path`, speaks in lines and waits to be told."""

    def __init__(
        self,
        code: str,
        path: Path,
        *arguments: str,
        user: int | None = None,
        wrap: tuple[str, ...] = (),
    ) -> None:
        self.process = subprocess.Popen(
            [*wrap, sys.executable, "-c", PROLOGUE + code, str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "TOY_USER": str(user or 0),
            },
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def expect(self, word: str) -> None:
        """Wait for the child to say `word`."""
        assert self.process.stdout is not None
        heard = self.process.stdout.readline().strip()
        if heard != word:
            self.process.kill()
            raise AssertionError(f"heard {heard!r}, not {word!r}: {self.process.communicate()[1]}")

    def tell(self) -> None:
        """Let the child go on from `hear()`."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> int:
        """End the child by SIGKILL and return its status."""
        self.process.kill()
        return self.process.wait(timeout=30)

    def end(self) -> tuple[int, str, str]:
        """Let the child end by itself and return its status, and what else it said."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out.strip(), err.strip()

"""A directory in which the real command is run, in real processes or in this one."""

from __future__ import annotations

import importlib
import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from resumeproof.cli import main
from resumeproof.crash.process import ChildExit
from resumeproof.lab import subject

ROOT = Path(__file__).parent.parent.parent
JOURNAL, LEDGER = subject.JOURNAL_NAME, subject.LEDGER_NAME
CHARGE = ROOT / "examples" / "charge.json"
COMMAND = (sys.executable, "-m", "resumeproof")
TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Ran:
    """How one command ended, and what it printed."""

    status: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        document = json.loads(self.stdout)
        assert isinstance(document, dict)
        return document

    @property
    def refusal(self) -> tuple[int, str, int, bool]:
        """Exit status, error code, lines on standard error, and whether they are in order."""
        error = self.document["error"]
        told = self.stderr.startswith("resumeproof: error: ") and "Traceback" not in self.stderr
        return self.status, error["code"], len(self.stderr.splitlines()), told


def _steers(name: str) -> bool:
    return "RESUMEPROOF" in name


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would steer the command."""
    own = {name: value for name, value in os.environ.items() if not _steers(name)}
    return own | dict(extra or {})


@contextmanager
def forgotten_below(directory: Path) -> Iterator[None]:
    """Forget which modules were imported from below a directory, and that it was looked into."""
    path = [*sys.path]
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in [*sys.modules.items()]:
            file = getattr(module, "__file__", None)
            if file is not None and Path(file).is_relative_to(directory):
                del sys.modules[name]
        importlib.invalidate_caches()


@dataclass(frozen=True)
class Desk:
    """Where one person walks the road by hand. Stores have their usual names in `path`."""

    path: Path

    def run(
        self,
        *words: str | os.PathLike[str] | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> Ran:
        ran = subprocess.run(
            [*COMMAND, *words],
            cwd=self.path,
            input=stdin,
            capture_output=True,
            env=environment(env),
            timeout=timeout_seconds,
        )
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    def call(
        self,
        *words: str | os.PathLike[str] | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run a command in this process: the same without the start of an interpreter.

        What it imports from the desk is forgotten afterwards. `test_desk.py` holds it to what
        processes come to.
        """
        runner = CliRunner(env={**dict.fromkeys(filter(_steers, os.environ)), **(env or {})})
        with chdir(self.path), forgotten_below(self.path):
            ran = runner.invoke(
                main, [os.fsdecode(word) for word in words], input=stdin, prog_name="resumeproof"
            )
        return Ran(ran.exit_code, ran.stdout, ran.stderr)

    def start(self, *words: str, **settings: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*COMMAND, *words], cwd=self.path, env=environment(), **settings)

    def done(self, *words: str | os.PathLike[str]) -> dict[str, Any]:
        """Run a command that has to succeed, in this process, and return its document."""
        ran = self.call(*words)
        assert (ran.status, ran.stderr) == (0, ""), ran
        return ran.document

    def create(self, *words: str | os.PathLike[str], action: Path = CHARGE) -> str:
        return str(self.done("create", "--action", action, *words)["id"])

    def approved(self, *words: str, action: Path = CHARGE) -> str:
        workflow_id = self.create(*words, action=action)
        self.done("approve", "--workflow", workflow_id, "--actor", "alice")
        return workflow_id

    def crashed(self, *words: str, at: str = "tool:after", kill: str = "exit86") -> str:
        """A workflow whose driver died at a boundary."""
        workflow_id = self.approved(*words)
        ran = self.run("resume", "--workflow", workflow_id, "--crash-at", at, "--kill", kill)
        died = "exit 86" if kill == "exit86" else "signal 9 (SIGKILL)"
        assert ChildExit.of(ran.status).text == died, ran
        return workflow_id

    def unknown(self) -> str:
        """A workflow in doubt, of a tool with neither key nor lookup."""
        workflow_id = self.crashed()
        assert self.call("resume", "--workflow", workflow_id).status == 4
        return workflow_id

    def completed(self, *words: str) -> str:
        workflow_id = self.approved(*words)
        self.done("resume", "--workflow", workflow_id)
        return workflow_id

    def show(self, workflow_id: str) -> dict[str, Any]:
        return self.done("show", "--workflow", workflow_id)

    def totals(self) -> dict[str, int]:
        """What the ledger counts."""
        totals: dict[str, int] = self.done("effects")["totals"]
        return totals

    def sql(self, store: str, *statements: str) -> None:
        """Change a store by hand, append-only or not, and leave it at rest."""
        with closing(sqlite3.connect(self.path / store, isolation_level=None)) as connection:
            triggers = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)
            for _, sql in triggers:
                connection.execute(sql)

    def query(self, store: str, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path / store)) as connection:
            return connection.execute(sql, parameters).fetchall()

    def files(self) -> dict[str, bytes]:
        """Every file below the desk, by name, byte for byte."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file()
        }

    def copy_to(self, path: Path) -> Desk:
        shutil.copytree(self.path, path)
        return Desk(path)


def on_a_terminal(
    desk: Desk, *words: str | Path, env: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a command whose standard output and error are one terminal; what appeared on it."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=desk.path,
        env=environment({"TERM": "xterm", "NO_COLOR": "", **(env or {})}),
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    seen = b""
    try:
        while piece := os.read(controller, 4096):
            seen += piece
    except OSError:
        pass  # Linux's word for the end: EIO once nobody has the terminal open.
    os.close(controller)
    status = process.wait(TIMEOUT_SECONDS)
    return status, seen.decode().replace("\r\n", "\n")

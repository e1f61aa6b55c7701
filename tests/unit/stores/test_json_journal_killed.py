"""Kill a writer of a JSON journal at every system call by which it changes a file."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from resumeproof.domain.inspection import inspect
from resumeproof.proof.told import CREATED_AT, created, write
from resumeproof.stores.json_form import line_of
from resumeproof.stores.json_journal import JsonJournal
from tests.unit.stores.json_life import DONE, RUNNING, live, told_of
from tests.unit.stores.test_killed_at_each_call import killed_at_each
from tests.unit.stores.toy import Child
from tests.unit.stores.tree import tree

WHOLE = {
    "journal", "journal/births", "journal/journal.json", "journal/workflows",
    "journal/workflows/w", "journal/workflows/w/timeline.jsonl",
    "journal/workflows/w/workflow.json",
}  # fmt: skip
LIVE = """
from tests.unit.stores.json_life import live
live(path, say)
"""
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace looks on")


def nothing(path: Path) -> None:
    """Start where there is no journal."""


def torn(path: Path) -> None:
    """Start where a life died while it recorded an outcome."""
    JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    with JsonJournal.open(path) as journal:
        write(journal, None, RUNNING)
    with (path / "workflows" / "w" / "timeline.jsonl").open("ab") as file:
        file.write(line_of(DONE.records[3])[:50])


def unsaved(path: Path) -> None:
    """Start where a life died between an outcome and its save."""
    torn(path)
    with (path / "workflows" / "w" / "timeline.jsonl").open("ab") as file:
        file.write(line_of(DONE.records[3])[50:])


STARTS = {
    "write": nothing, "fsync": nothing, "rename": nothing, "mkdir": nothing, "flock": nothing,
    "ftruncate": torn,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.crash
@needs_strace
@pytest.mark.parametrize(
    ("call", "start"),
    [
        *(pytest.param(call, start, id=call) for call, start in STARTS.items()),
        pytest.param("fsync", torn, id="fsync-after-a-torn-line"),
        pytest.param("fsync", unsaved, id="fsync-after-a-missing-save"),
        pytest.param("rename", unsaved, id="rename-after-a-missing-save"),
    ],
)
def test_a_killed_writer_leaves_a_readable_workflow_that_the_next_one_finishes(
    tmp_path: Path, call: str, start: Callable[[Path], None]
) -> None:
    path = tmp_path / "journal"
    start(path)
    for said in killed_at_each(call, LIVE, path):
        left = tree(tmp_path)
        saved, recorded = told_of(path)
        promised = max(map(int, said.split()), default=0)
        # No state is ahead of its records: `told_of` would have refused it.
        assert (saved >= promised, saved <= recorded, tree(tmp_path)) == (True, True, left)
        live(path, lambda _: None)
        with JsonJournal.open_reader(path) as journal:
            assert (journal.load("w"), set(tree(tmp_path))) == (DONE.stored, WHOLE)
        shutil.rmtree(path)
        start(path)


# -- the order in which it becomes durable -----------------------------------------------------

WRITING = re.compile(r"^\d+ +(write|fsync|rename|ftruncate|mkdir)\((.*)\) = ")
ONE_COMMIT = """
from resumeproof.proof.told import approved, created, write
from resumeproof.stores.json_journal import JsonJournal
with JsonJournal.open(path) as journal:
    write(journal, created("w"), approved(created("w")))
"""
A_NEW_WORKFLOW = """
from resumeproof.proof.told import created, write
from resumeproof.stores.json_journal import JsonJournal
with JsonJournal.open(path) as journal:
    write(journal, None, created("w"))
"""
A_NEW_JOURNAL = """
from resumeproof.stores.json_journal import JsonJournal
JsonJournal.create(path, journal_id="journal-1", created_at="2026-01-02T03:04:05.000000Z")
"""


def calls_of(code: str, path: Path, tmp_path: Path) -> list[str]:
    """What a child that runs `code` does to files, in order, as `call name` and `call from to`."""
    log = tmp_path / "strace"
    strace = ("strace", "-f", "-y", "-qq", "-s", "0", "-o", str(log))
    only = ("-e", "trace=write,fsync,rename,ftruncate,mkdir")
    with Child(code, path, wrap=(*strace, *only)) as child:
        assert child.end() == (0, "", "")
    calls = []
    for line in log.read_text().splitlines():
        if found := WRITING.match(line):
            call, arguments = found.groups()
            quoted = re.findall(r'[<"](/[^>"]*)[>"]', arguments)
            names = [_named(Path(name), path) for name in quoted]
            calls.append(" ".join([call, *names]))
    return calls


def _named(found: Path, path: Path) -> str:
    name = os.path.relpath(found, path.parent)
    return re.sub(r"\.journal\.[0-9a-f]+-[0-9a-f]+\.birth\.d", "BIRTH", name)


@needs_strace
def test_a_record_is_durable_before_the_save_and_the_save_before_the_call_returns(
    json_path: Path, tmp_path: Path
) -> None:
    with JsonJournal.open(json_path) as journal:
        write(journal, None, created("w"))
    w = "journal/workflows/w"
    assert calls_of(ONE_COMMIT, json_path, tmp_path) == [
        f"fsync {w}/timeline.jsonl",  # whoever wrote what is there may have died before that
        f"write {w}/timeline.jsonl",
        f"fsync {w}/timeline.jsonl",
        f"write {w}/.workflow.json.new",
        f"fsync {w}/.workflow.json.new",
        f"rename {w}/.workflow.json.new {w}/workflow.json",
        f"fsync {w}",
    ]


@needs_strace
def test_a_workflow_is_durable_before_it_is_seen(json_path: Path, tmp_path: Path) -> None:
    birth, w = "journal/births/w", "journal/workflows/w"
    assert calls_of(A_NEW_WORKFLOW, json_path, tmp_path) == [
        f"mkdir {birth}",
        f"write {birth}/timeline.jsonl",
        f"fsync {birth}/timeline.jsonl",
        f"write {birth}/.workflow.json.new",
        f"fsync {birth}/.workflow.json.new",
        f"rename {birth}/.workflow.json.new {birth}/workflow.json",
        f"fsync {birth}",
        f"rename {birth} {w}",
        "fsync journal/workflows",
    ]


@needs_strace
def test_a_journal_is_durable_before_it_is_seen(tmp_path: Path) -> None:
    assert calls_of(A_NEW_JOURNAL, tmp_path / "journal", tmp_path) == [
        "mkdir BIRTH",
        "write BIRTH/journal.json",
        "fsync BIRTH/journal.json",
        "mkdir BIRTH/workflows",
        "mkdir BIRTH/births",
        "fsync BIRTH",
        "rename BIRTH journal",
        "fsync .",
    ]


# -- a reader beside a writer ------------------------------------------------------------------

REVISIONS = 200
REPLACE_AGAIN_AND_AGAIN = f"""
from resumeproof.proof.told import created, replaced, write
from resumeproof.stores.json_journal import JsonJournal
told = created("w")
with JsonJournal.open(path) as journal:
    say("open")
    for amount in range({REVISIONS}):
        told = write(journal, told, replaced(told, amount))
say("done")
"""


def test_a_reader_never_sees_half_a_workflow(json_path: Path) -> None:
    with JsonJournal.open(json_path) as journal:
        new = write(journal, None, created("w"))
    revisions = [new.workflow.revision]
    with JsonJournal.open_reader(json_path) as journal:
        with Child(REPLACE_AGAIN_AND_AGAIN, json_path) as child:
            child.expect("open")
            while revisions[-1] < REVISIONS // 2:
                stored = journal.load("w")
                assert inspect(stored).damage is None
                assert len(stored.records) == stored.row["revision"]
                assert stored.action_digest == inspect(stored).sound().action_digest
                revisions.append(stored.row["revision"])
            assert child.end() == (0, "done", "")
        last = journal.load("w").row["revision"]
    assert (revisions, last) == (sorted(revisions), REVISIONS + 1)


CONTEND = """
from resumeproof.errors import Conflict
from resumeproof.proof.told import approved, created, write
from resumeproof.stores.json_journal import JsonJournal
new = created("w")
with JsonJournal.open(path) as journal:
    say("open")
    hear()
    try:
        write(journal, new, approved(new, sys.argv[2]))
    except Conflict as conflict:
        say(f"{conflict.expected}<{conflict.found}")
    else:
        say("won")
"""


def test_of_eight_processes_without_the_driver_lock_exactly_one_wins(json_path: Path) -> None:
    with JsonJournal.open(json_path) as journal:
        write(journal, None, created("w"))
    children = [Child(CONTEND, json_path, f"actor-{number}") for number in range(8)]
    try:
        for child in children:
            child.expect("open")
        for child in children:
            child.tell()
        ends = sorted(child.end() for child in children)
    finally:
        for child in children:
            child.__exit__()
    with JsonJournal.open_reader(json_path) as journal:
        revision = journal.load("w").row["revision"]
    assert (ends, revision) == ([(0, "1<2", "")] * 7 + [(0, "won", "")], 2)

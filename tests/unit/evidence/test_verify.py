"""A receipt file that was changed, torn or lost, and evidence that was only extended."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resumeproof.errors import EvidenceBroken, ResumeproofError, StoreNotFound, StoreRefused
from resumeproof.evidence.receipt import RECEIPT_NAME, TIMELINE_NAME
from resumeproof.evidence.verify import verify
from resumeproof.lab.subject import JOURNAL_NAME
from resumeproof.runtime.operations import Resolution
from tests.unit.evidence.by_hand import change
from tests.unit.evidence.scene import STORIES, Scene, a_case

Copied = Callable[[Scene], Scene]
Place = tuple[str | int, ...]

CANNOT_BE_DERIVED = (
    re.compile(r"environment/\w+"),
    re.compile(r"scenarios/\d+/pids/\d+"),
)
"""What no database proves, and nothing else in the receipt file bears upon; docs/evidence.md
lists them."""


def receipt_of(scene: Scene) -> dict[str, Any]:
    receipt: dict[str, Any] = json.loads((scene.directory / RECEIPT_NAME).read_text())
    return receipt


def write(scene: Scene, receipt: Any) -> None:
    (scene.directory / RECEIPT_NAME).write_text(json.dumps(receipt))


def leaves(document: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every place of a document that is neither an object nor an array with something in it."""
    if isinstance(document, dict) and document:
        for name, value in document.items():
            yield from leaves(value, (*place, name))
    elif isinstance(document, list) and document:
        for index, value in enumerate(document):
            yield from leaves(value, (*place, index))
    else:
        yield place, document


def put(document: Any, place: Place, value: Any) -> Any:
    changed = copy.deepcopy(document)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return changed


def other_than(value: Any) -> list[Any]:
    match value:
        case bool():
            return [not value, int(value)]
        case int() | float():
            return [value + 1, None]
        case None:
            return ["", 0]
        case str():
            end = value[-1:]
            return [value[:-1] + ("0" if end != "0" else "1"), ""]
        case _:
            return [None]


def test_every_leaf_of_the_receipt_file_is_held_against_something(
    small: Scene, copied: Copied
) -> None:
    scene, receipt = copied(small), receipt_of(small)
    passed = set()
    for place, value in leaves(receipt):
        for other in other_than(value):
            write(scene, put(receipt, place, other))
            try:
                verify(scene.directory)
            except (EvidenceBroken, StoreNotFound):
                continue
            passed.add("/".join(map(str, place)))
    assert {place for place in passed if not can_not_be_derived(place)} == set()
    assert passed, "a test whose every change is refused may have refused the unchanged one"


def can_not_be_derived(place: str) -> bool:
    return any(form.fullmatch(place) for form in CANNOT_BE_DERIVED)


def parts(document: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every member and of every item, outermost first."""
    if isinstance(document, dict | list):
        inside = document.items() if isinstance(document, dict) else enumerate(document)
        for step, value in inside:
            yield (*place, step)
            yield from parts(value, (*place, step))


def without(document: Any, place: Place) -> Any:
    changed = copy.deepcopy(document)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    del inner[place[-1]]
    return changed


@pytest.mark.parametrize(
    ("story", "kind"), [("small", str), ("varied", int)], ids=["member", "item"]
)
def test_nothing_can_be_taken_away(
    story: str, kind: type, copied: Copied, request: pytest.FixtureRequest
) -> None:
    whole: Scene = request.getfixturevalue(story)
    scene, receipt = copied(whole), receipt_of(whole)
    passed = []
    for place in parts(receipt):
        if not isinstance(place[-1], kind):
            continue
        write(scene, without(receipt, place))
        try:
            verify(scene.directory)
        except (EvidenceBroken, StoreNotFound):
            continue
        passed.append(place)
    assert passed == []


@given(data=st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_byte_is_noticed_unless_it_changes_nothing(
    small: Scene, copied: Copied, data: st.DataObject
) -> None:
    scene = copied(small)
    path = scene.directory / RECEIPT_NAME
    text = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(text) - 1))
    text[position] ^= data.draw(st.integers(1, 255))
    path.write_bytes(text)
    try:
        verify(scene.directory)
    except (EvidenceBroken, StoreNotFound):
        return
    assert without_the_account(json.loads(text)) == without_the_account(receipt_of(small))


def without_the_account(receipt: dict[str, Any]) -> dict[str, Any]:
    for place, _ in list(leaves(receipt)):
        if can_not_be_derived("/".join(map(str, place))):
            receipt = put(receipt, place, None)
    return receipt


def test_any_beginning_of_the_file_is_called_truncated(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    path = scene.directory / RECEIPT_NAME
    text = path.read_bytes()
    others = {}
    for length in range(1, len(text) - 1, 7):
        path.write_bytes(text[:length])
        with pytest.raises(EvidenceBroken) as caught:
            verify(scene.directory)
        if not caught.value.detail.startswith("it is truncated"):
            others[length] = caught.value.detail
    assert others == {}


FILES = {
    "empty": (b"", "it is empty"),
    "one space": (b" ", "it is truncated: its end is missing"),
    "NUL alone": (b"\0" * 4096, "it holds nothing but NUL bytes"),
    "NUL at its end": (b'{"kind": "demo"' + b"\0" * 512, "it is truncated: it ends with NUL bytes"),
    "an array": (b"[]", "it is no object"),
    "a string": (b'"receipt"', "it is no object"),
    "another document": (b"{}", "member 'environment' is missing"),
    "no JSON": (b"{kind: demo}", "it is no JSON document"),
    "a text": (b"# resumeproof\n", "it is no JSON document"),
    "not UTF-8": (b'{"kind": "\xff"}', "it is not UTF-8 (byte 10)"),
    "UTF-16": ('\ufeff{"kind": "demo"}'.encode("utf-16-be"), "it is not UTF-8 (byte 0)"),
    "a byte-order mark": (b"\xef\xbb\xbf{}", "it is no JSON document"),
    "a member twice": (b'{"kind": 1, "kind": 1}', "member 'kind' is there twice"),
    "no number": (b'{"kind": NaN}', "NaN is no JSON number"),
    "beyond numbers": (b'{"kind": 1e999}', "1e999 is beyond what a number can hold"),
    "a number without an end": (b'{"kind": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    "nested without an end": (b"[" * 200_000, "it is"),
}


@pytest.mark.parametrize(("data", "detail"), FILES.values(), ids=FILES)
def test_what_is_wrong_with_the_file_is_told_apart(
    data: bytes, detail: str, small: Scene, copied: Copied
) -> None:
    scene = copied(small)
    (scene.directory / RECEIPT_NAME).write_bytes(data)
    with pytest.raises(EvidenceBroken) as caught:
        verify(scene.directory)
    assert caught.value.detail.startswith(detail)


def test_a_newer_schema_is_named(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    write(scene, receipt_of(small) | {"schema_version": 2})
    with pytest.raises(EvidenceBroken, match="schema_version"):
        verify(scene.directory)


@pytest.mark.parametrize("file", ["receipt", "journal", "ledger", "picture"])
def test_a_file_that_is_gone_is_named(file: str, small: Scene, copied: Copied) -> None:
    scene = copied(small)
    paths = {
        "receipt": scene.directory / RECEIPT_NAME,
        "journal": scene.journal,
        "ledger": scene.ledger,
        "picture": scene.directory / TIMELINE_NAME,
    }
    paths[file].rename(scene.directory / "renamed")
    with pytest.raises(StoreNotFound) as caught:
        verify(scene.directory)
    kind = "receipt file" if file == "receipt" else file
    assert (caught.value.kind, caught.value.path) == (kind, str(paths[file]))


@pytest.mark.parametrize("file", [RECEIPT_NAME, TIMELINE_NAME])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is POSIX")
@pytest.mark.timeout(20)
def test_a_pipe_is_not_waited_for(file: str, small: Scene, copied: Copied) -> None:
    path = copied(small).directory / file
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ResumeproofError, match="it is not a regular file"):
        verify(path.parent)


def test_stores_that_changed_places_are_refused(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    aside = scene.directory / "aside"
    scene.journal.rename(aside)
    scene.ledger.rename(scene.journal)
    aside.rename(scene.ledger)
    with pytest.raises(StoreRefused):
        verify(scene.directory)


def test_a_changed_picture_is_named(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    path = scene.directory / TIMELINE_NAME
    path.write_text(path.read_text().replace("unknown", "completed"))
    with pytest.raises(EvidenceBroken) as caught:
        verify(scene.directory)
    assert caught.value.facts == {
        "path": str(path), "what": "its SHA-256", "detail": "the picture was changed",
    }  # fmt: skip


def test_a_receipt_file_is_found_by_its_directory(small: Scene) -> None:
    by_directory, by_file = verify(small.directory), verify(small.directory / RECEIPT_NAME)
    assert by_directory == by_file
    assert by_file.totals == {"effects": 2, "replays": 1, "unknown": 0}


# -- extended ---------------------------------------------------------------------------------


def test_a_decision_after_it_was_written_extends_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    subject = scene.play(a_case("unknown", key=None), "tool:after")
    scene.write()
    scene.decide(subject, Resolution.CONFIRMED_APPLIED)
    verified = verify(tmp_path)
    assert verified.extended == (f"workflow {subject.workflow_id} has 1 more record",)
    assert verified.totals == {"effects": 1, "replays": 0, "unknown": 0}


def test_another_workflow_extends_it(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    STORIES["late call"](scene, "late call")
    workflow_id = scene.scenarios[-1].workflow_id
    assert verify(scene.directory).extended == (
        f"workflow {workflow_id} is new",
        "the ledger has 1 more effect",
        "the ledger has 2 more invocations",
        "the ledger has 1 more lookup",
        "the ledger has 1 more registration",
    )


OPENS_AND_DIES = """
import os, sys
from resumeproof.stores.sqlite_journal import SqliteJournal

journal = SqliteJournal.open(sys.argv[1])
os._exit(86)
"""


def test_a_journal_whose_last_writer_died_before_it_wrote_is_one_moment(
    small: Scene, copied: Copied
) -> None:
    scene = copied(small)
    STORIES["conflict"](scene, "conflict")
    extended = verify(scene.directory)
    died = subprocess.run([sys.executable, "-c", OPENS_AND_DIES, scene.journal])
    log = scene.journal.with_name(f"{JOURNAL_NAME}-wal")
    assert (died.returncode, log.read_bytes()) == (86, b"")
    assert verify(scene.directory) == extended


def test_another_action_extends_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    subject = scene.play(a_case("approved"), resumes=0)
    scene.write()
    STORIES["replaced"](scene, "another")
    scene.replace(subject, subject.case.action.canonical.replace(b"4200", b"9900"))
    assert f"workflow {subject.workflow_id} has 1 more record" in verify(tmp_path).extended


def test_what_it_says_is_held_against_what_there_was(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    STORIES["conflict"](scene, "conflict")
    write(scene, put(receipt_of(small), ("workflows", 1, "status"), "completed"))
    with pytest.raises(EvidenceBroken, match=r"workflow wf_\w+, status"):
        verify(scene.directory)


def test_damage_is_no_extension(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    STORIES["conflict"](scene, "conflict")
    change(scene.ledger, "UPDATE invocations SET at = '2026-06-01T00:00:00.000000Z'"
           " WHERE outcome = 'replayed'")  # fmt: skip
    with pytest.raises(EvidenceBroken, match="invocation 2, at"):
        verify(scene.directory)


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("store", ["journal", "ledger"])
def test_a_flipped_byte_of_a_store_ends_in_a_named_error(
    store: str, small: Scene, copied: Copied, data: st.DataObject
) -> None:
    scene = copied(small)
    path = scene.journal if store == "journal" else scene.ledger
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    with pytest.raises(ResumeproofError) as caught:
        verify(scene.directory)
    assert caught.value.exit == 7

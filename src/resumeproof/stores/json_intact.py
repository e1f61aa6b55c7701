"""Whether the files of a JSON journal are as a writer leaves them, or its death.

What their contents come to, `resumeproof.stores.json_reading` says; here it is their form: no byte
more than was written, and no file that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from resumeproof.stores.durable import temporary_of
from resumeproof.stores.json_birth import unborn
from resumeproof.stores.json_form import (
    BIRTHS_NAME,
    IDENTITY_NAME,
    STATE_NAME,
    TIMELINE_NAME,
    WORKFLOWS_NAME,
    Identity,
    State,
)
from resumeproof.stores.json_transaction import named

_JOURNAL: Final = frozenset({IDENTITY_NAME, WORKFLOWS_NAME, BIRTHS_NAME})
_WORKFLOW: Final = frozenset({TIMELINE_NAME, STATE_NAME})
_UNFINISHED: Final = temporary_of(Path(STATE_NAME)).name


def form_damage(journal: Path) -> str | None:
    """The first file that is written otherwise, or does not belong there; None if there is none.

    Raises `StoreUnavailable`, and `ValueError` for a file that cannot be read at all.
    """
    with named(journal):
        return next(_odd(journal), None)


def unfinished(journal: Path) -> list[str]:
    """What a death left of writes that never became true, and the next writer takes away.

    Raises `StoreUnavailable`.
    """
    with named(journal):
        births = unborn(journal)
        saves = sorted((journal / WORKFLOWS_NAME).glob(f"*/{_UNFINISHED}"))
    return [
        *(f"{left.name}, a workflow that was not born yet" for left in births),
        *(f"{left.parent.name}/{left.name}, a save that was not made yet" for left in saves),
    ]


def _odd(journal: Path) -> Iterator[str]:
    yield from _strange(journal, _JOURNAL)
    if _differs(journal / IDENTITY_NAME, lambda data: Identity.from_bytes(data).to_bytes()):
        yield f"{IDENTITY_NAME} is not written as a journal writes it"
    for workflow in sorted((journal / WORKFLOWS_NAME).iterdir()):
        yield from _strange(workflow, _WORKFLOW | {_UNFINISHED})
        # The lines of a timeline are compared as they are read.
        if _differs(workflow / STATE_NAME, lambda data: State.from_bytes(data).to_bytes()):
            yield f"{workflow.name}/{STATE_NAME} is not written as a journal writes it"


def _strange(directory: Path, known: frozenset[str]) -> Iterator[str]:
    for entry in sorted(directory.iterdir()):
        if entry.name not in known:
            yield f"{entry.name} does not belong in {directory.name}"


def _differs(path: Path, written_again: Callable[[bytes], bytes]) -> bool:
    data = path.read_bytes()
    return written_again(data) != data

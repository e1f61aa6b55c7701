"""Whether two stores may be worked on, decided before anything is written.

What is refused here leaves nothing behind: no new store, no lock file, no changed byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from resumeproof.errors import StoreNotFound, UsageRefused
from resumeproof.stores.birth import refuse_second_name
from resumeproof.stores.gate import gate
from resumeproof.stores.journals import open_journal
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.place import refuse_same_file, resolved
from resumeproof.stores.recognise import recognise
from resumeproof.stores.sqlite import BUSY_TIMEOUT_SECONDS
from resumeproof.stores.sqlite_journal import JOURNAL
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import LEDGER

_Opener = Callable[[Path], AbstractContextManager[object]]


def refuse_unfit_paths(journal: Path, ledger: Path) -> None:
    """Raise `SameStore` for two paths of one file, `HardLinked` for a store with two names.

    `UsageRefused` for a ledger in the directory that is the journal: they share nothing.
    """
    refuse_same_file(journal, ledger)
    if resolved(journal) in resolved(ledger).parents:
        raise UsageRefused(f"ledger {ledger} would lie in journal {journal}; they share nothing")
    for path, kind in ((journal, JOURNAL), (ledger, LEDGER)):
        _refuse_second_name(resolved(path), kind)


def refuse_unfit_to_create(journal: Path, ledger: Path) -> None:
    """Raise, besides, for a store that is there and no good, and for a directory that is not there.

    `StoreNotFound` names the directory; what a store raises is what opening it to read raises.
    """
    refuse_unfit_paths(journal, ledger)
    _refuse_unreadable(resolved(journal), open_journal)
    _refuse_unreadable(resolved(ledger), SqliteLedger.open_reader)


def _refuse_second_name(place: Path, kind: StoreKind) -> None:
    try:
        links = place.stat().st_nlink
    except OSError:
        return  # Whoever opens it says what is wrong.
    if links > 1 and place.is_file():
        with gate(place, kind.name, BUSY_TIMEOUT_SECONDS):
            refuse_second_name(recognise(place, kind), kind)


def _refuse_unreadable(place: Path, open_reader: _Opener) -> None:
    if not place.parent.is_dir():
        raise StoreNotFound("directory", str(place.parent))
    if os.path.lexists(place):
        with open_reader(place):
            pass

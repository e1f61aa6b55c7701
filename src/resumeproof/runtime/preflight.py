"""Whether two stores may be worked on, decided before anything is written.

What is refused here leaves nothing behind: no new store, no lock file, no changed byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from resumeproof.errors import NameTaken, UsageRefused
from resumeproof.runtime.health import sidecar_path
from resumeproof.runtime.lock import lock_path
from resumeproof.stores.birth import is_birth_name, refuse_second_name
from resumeproof.stores.companions import SUFFIXES, beside
from resumeproof.stores.gate import gate
from resumeproof.stores.journals import open_journal
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.place import refuse_missing_directory, refuse_same_file, resolved
from resumeproof.stores.recognise import recognise
from resumeproof.stores.sqlite import BUSY_TIMEOUT_SECONDS
from resumeproof.stores.sqlite_journal import JOURNAL
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import LEDGER

_Opener = Callable[[Path], AbstractContextManager[object]]


def refuse_unfit_paths(journal: Path, ledger: Path) -> None:
    """Raise `SameStore` for two paths of one file, `HardLinked` for a store with two names.

    `NameTaken` where one of them lies under a name that belongs to the other, and `UsageRefused`
    for a ledger in the directory that is the journal: they share nothing.
    """
    refuse_same_file(journal, ledger)
    driven, called = resolved(journal), resolved(ledger)
    if driven in called.parents:
        raise UsageRefused(f"ledger {ledger} would lie in journal {journal}; they share nothing")
    _refuse_taken_name(called, driven, lock_path(driven), sidecar_path(driven))
    _refuse_taken_name(driven, called)
    _refuse_second_name(driven, JOURNAL)
    _refuse_second_name(called, LEDGER)


def refuse_unfit_to_create(journal: Path, ledger: Path) -> None:
    """Raise, besides, for a store that is there and no good, and for a directory that is not there.

    `StoreNotFound` names the directory; what a store raises is what opening it to read raises.
    """
    refuse_unfit_paths(journal, ledger)
    _refuse_unreadable(resolved(journal), open_journal)
    _refuse_unreadable(resolved(ledger), SqliteLedger.open_reader)


def _refuse_taken_name(place: Path, store: Path, *besides: Path) -> None:
    # SQLite, the lock and the counters take what lies there for their own, to apply or to remove.
    taken = place in besides or place in {beside(store, suffix) for suffix in SUFFIXES}
    if taken or (place.parent == store.parent and is_birth_name(place.name, store)):
        raise NameTaken(str(place), str(store))


def _refuse_second_name(place: Path, kind: StoreKind) -> None:
    try:
        links = place.stat().st_nlink
    except OSError:
        return  # Whoever opens it says what is wrong.
    if links > 1 and place.is_file():
        with gate(place, kind.name, BUSY_TIMEOUT_SECONDS):
            refuse_second_name(recognise(place, kind), kind)


def _refuse_unreadable(place: Path, open_reader: _Opener) -> None:
    refuse_missing_directory(place.parent)
    if os.path.lexists(place):
        with open_reader(place):
            pass

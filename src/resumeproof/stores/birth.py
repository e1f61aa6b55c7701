"""A store is born whole: a killed `create` leaves nothing or a good store.

It is built and synced under a birth name in the same directory, `.<name>.<token>.birth`, and then
linked into place; a link never replaces a file.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from resumeproof.errors import HardLinked, StoreUnavailable
from resumeproof.stores.gate import gate
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.migrate import statements
from resumeproof.stores.place import cause_of, resolved
from resumeproof.stores.recognise import Recognised
from resumeproof.stores.sqlite import BUSY_TIMEOUT_SECONDS, connect
from resumeproof.stores.sqlite_errors import ErrorsNamed

_NO_LINKS_HERE = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


def create(
    path: str | os.PathLike[str],
    kind: StoreKind,
    *,
    seed: Callable[[sqlite3.Connection], None],
    busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
) -> bool:
    """Create a store with the rows that `seed` writes; False if something is at `path` already.

    Of several creators at once one gets True, and the others find its store. `seed` gets the
    connection inside the one transaction that writes the schema, and opens no other store.
    Raises StoreNotFound without a directory; StoreUnavailable, with nothing left behind.
    """
    place = resolved(path)
    with gate(place, kind.name, busy_timeout_seconds) as alone:
        if os.path.lexists(place):
            return False
        try:
            if alone:
                # Whoever built these died, or it would be at the gate.
                for left_over in _birth_names(place):
                    left_over.unlink()
            birth = _birth_name(place)
        except OSError as error:
            raise StoreUnavailable(kind.name, str(place), cause_of(error)) from error
        try:
            _build(birth, kind, seed, place)
            return _put(birth, place)
        except OSError as error:
            raise StoreUnavailable(kind.name, str(place), cause_of(error)) from error
        finally:
            birth.unlink(missing_ok=True)
            birth.with_name(birth.name + "-journal").unlink(missing_ok=True)


def is_birth_name(name: str, place: Path) -> bool:
    """Whether a store at `place` may have been built under `name`."""
    return name.startswith(f".{place.name}.") and name.endswith(".birth")


def refuse_second_name(found: Recognised, kind: StoreKind) -> None:
    """Remove the birth name of a store whose creator was killed just after linking.

    Raises HardLinked if the store has any other second name.
    """
    if found.links == 1:
        return
    try:
        for name in _birth_names(found.path):
            if name.samefile(found.path):
                name.unlink()
    except OSError as error:
        raise StoreUnavailable(kind.name, str(found.path), cause_of(error)) from error
    if (links := found.path.stat().st_nlink) > 1:
        raise HardLinked(str(found.path), links)


def _birth_name(place: Path) -> Path:
    while True:
        token = f"{os.getpid():x}-{time.monotonic_ns():x}"
        birth = place.with_name(f".{place.name}.{token}.birth")
        try:
            os.close(os.open(birth, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        except FileExistsError:
            continue
        return birth


def _birth_names(place: Path) -> Iterator[Path]:
    for entry in place.parent.iterdir():
        if is_birth_name(entry.name, place):
            yield entry


def _build(
    birth: Path, kind: StoreKind, seed: Callable[[sqlite3.Connection], None], place: Path
) -> None:
    with ErrorsNamed(kind.name, place):
        connection = connect(birth, "rw")
        try:
            # Nobody can see it yet, so that one sync at the end is enough.
            connection.execute("PRAGMA journal_mode=MEMORY").fetchone()
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("BEGIN IMMEDIATE")
            for statement in statements(kind.schema_sql()):
                connection.execute(statement)
            seed(connection)
            connection.execute(f"PRAGMA application_id={kind.application_id}")
            connection.execute(f"PRAGMA user_version={kind.schema_version}")
            connection.execute("COMMIT")
        finally:
            connection.close()
    descriptor = os.open(birth, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put(birth: Path, place: Path) -> bool:
    if not hasattr(os, "O_DIRECTORY"):
        return _linked(birth, place)
    # Opened before: a directory that may not be read cannot be synced.
    descriptor = os.open(place.parent, os.O_RDONLY)
    try:
        if not _linked(birth, place):
            return False
        try:
            os.fsync(descriptor)
        except OSError:
            # Nobody uses it yet: they are all at the gate.
            place.unlink()
            raise
    finally:
        os.close(descriptor)
    return True


def _linked(birth: Path, place: Path) -> bool:
    try:
        os.link(birth, place)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS_HERE:
            raise
        # Without links: nobody else of ours is inside the gate, and what is there stays.
        if os.path.lexists(place):
            return False
        birth.rename(place)
    return True

"""What lies beside a database, judged from its bytes: SQLite would apply it without asking whose
it is. Source: sqlite.org/fileformat2.html, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import FileIO
from pathlib import Path

from resumeproof.stores.kind import StoreKind
from resumeproof.stores.wal import WAL_HEADER_BYTES, Frame, checked, frames_by_salt, number

HEADER_BYTES = 100
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
# What changes in page 1 when a store goes to WAL and back: format versions, change counter,
# version-valid-for and the library's version.
_CHANGING = (slice(18, 20), slice(24, 28), slice(92, 100))


SUFFIXES = ("-wal", "-shm", "-journal")


def beside(path: Path, suffix: str) -> Path:
    """The companion file of a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


def bytes_of(path: Path) -> int:
    """The size of a file in bytes; 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def page_bytes_of(header: bytes) -> int:
    """The page size that a database's header states."""
    stated = int.from_bytes(header[16:18], "big")
    return 65536 if stated == 1 else stated


def version_refusal(header: bytes, kind: StoreKind) -> str | None:
    """Why the header of a database is not one that `kind` can open, or None."""
    application_id = number(header, 68)
    if application_id != kind.application_id:
        return f"it is not a {kind.name} (application_id {application_id:#010x})"
    version = number(header, 60)
    if version > kind.schema_version:
        return f"its schema {version} is newer than {kind.schema_version}, the newest known here"
    if version < 1:
        return "it has no schema version"
    return None


def wal_refusal(wal: Path, header: bytes, kind: StoreKind) -> str | None:
    """Why a `-wal` beside a store in WAL mode must not be applied, or None.

    A program that is newer than this one, or has nothing to do with us, may have died in it.
    """
    page_bytes = page_bytes_of(header)
    # Unbuffered: of each frame only the head counts.
    with wal.open("rb", buffering=0) as stream:
        start = stream.read(WAL_HEADER_BYTES)
        if len(start) < WAL_HEADER_BYTES or not _begins_a_wal(start):
            return None  # SQLite ignores it as well
        if number(start, 8) != page_bytes:
            return "the -wal beside it is a stranger's (another page size)"
        frames = [*frames_by_salt(stream, start)]
        refusal = _refusal_of_newest(stream, frames, kind)
        if refusal is None:
            return None
        # A power cut can leave heads without their pages. To check them all takes its time.
        return _refusal_of_newest(stream, frames[: checked(stream, start, frames)], kind)


def _refusal_of_newest(stream: FileIO, frames: Sequence[Frame], kind: StoreKind) -> str | None:
    """What speaks against the newest page 1 that was committed to the WAL."""
    last = max((index for index, frame in enumerate(frames) if frame.commits), default=-1)
    first_pages = [frame for frame in frames[: last + 1] if frame.page == 1]
    if not first_pages:
        return None
    stream.seek(first_pages[-1].body_at)
    return version_refusal(stream.read(HEADER_BYTES), kind)


def _begins_a_wal(start: bytes) -> bool:
    return number(start, 0) & ~1 == 0x377F0682


def wal_settled(wal: Path) -> bool:
    """Whether a `-wal` is there and is either empty or begins as it should, with a frame to follow.

    Of any other SQLite takes for granted, where it may not write, that its writer is at work, and
    waits for it: `walBeginShmUnreliable` of SQLite's wal.c. Raises OSError.
    """
    if not wal.exists():
        return False
    with wal.open("rb") as stream:
        start = stream.read(WAL_HEADER_BYTES + 1)
    return not start or (len(start) > WAL_HEADER_BYTES and _begins_a_wal(start))


def journal_refusal(journal: Path, first_page: bytes) -> str | None:
    """Why a `-journal` beside a store must not be rolled back, or None.

    Ours comes from a death between DELETE and WAL, so that it holds page 1 and nothing else.
    """
    page_bytes = len(first_page)
    with journal.open("rb") as stream:
        start = stream.read(28)
        if not start.startswith(JOURNAL_MAGIC) or len(start) < 28:
            return None  # SQLite does not roll it back either
        sector_bytes = number(start, 20)
        stream.seek(sector_bytes)
        record = stream.read(4 + page_bytes + 4)
        more = stream.read(4 + page_bytes + 4)
    same_shape = number(start, 16) == number(first_page, 28) and number(start, 24) == page_bytes
    whole = len(record) == 4 + page_bytes + 4
    ours = same_shape and len(more) < 4 + page_bytes + 4
    if ours and whole:
        ours = number(record, 0) == 1 and _fixed(record[4:-4]) == _fixed(first_page)
    return None if ours else "the -journal beside it is a stranger's"


def _fixed(page: bytes) -> bytes:
    fixed = bytearray(page)
    for changing in _CHANGING:
        fixed[changing] = bytes(changing.stop - changing.start)
    return bytes(fixed)


Fingerprint = tuple[tuple[int, ...] | None, ...]


def fingerprint(path: Path) -> Fingerprint:
    """The status of a database and its companions; another one after a copy was no copy."""
    return tuple(_status(place) for place in (path, beside(path, "-wal"), beside(path, "-journal")))


def _status(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

"""What lies beside a database, judged from its bytes: SQLite would apply it without asking whose
it is. Source: sqlite.org/fileformat2.html, sections 3 and 4.
"""

from __future__ import annotations

from io import FileIO
from pathlib import Path

from resumeproof.stores.kind import StoreKind

HEADER_BYTES = 100
WAL_HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24
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


def number(block: bytes, offset: int) -> int:
    """The big-endian 32-bit number at `offset`."""
    return int.from_bytes(block[offset : offset + 4], "big")


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
        newest = _committed_header(stream, start[16:24], page_bytes)
    return None if newest is None else version_refusal(newest, kind)


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


def _committed_header(stream: FileIO, salts: bytes, page_bytes: int) -> bytes | None:
    """The database header in the newest page 1 that was committed to the WAL."""
    pending: bytes | None = None
    committed: bytes | None = None
    frame_at = WAL_HEADER_BYTES
    while True:
        stream.seek(frame_at)
        frame = stream.read(FRAME_HEADER_BYTES)
        if len(frame) < FRAME_HEADER_BYTES or frame[8:16] != salts:
            return committed
        if number(frame, 0) == 1:
            pending = stream.read(HEADER_BYTES)
        if number(frame, 4):  # a commit frame bears the size of the database after it
            committed = pending
        frame_at += FRAME_HEADER_BYTES + page_bytes


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

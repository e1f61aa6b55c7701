"""The per-journal driver lock. The kernel's lock is the only truth; the owner record is a label.

The lock is filelock's native one on `<journal>.lock`, beside the journal itself and not beside a
link to it: flock(2) on POSIX, LockFileEx on byte 0 on Windows. It belongs to one open file of one
process: death of any kind releases it, a stop does not, and a fork hands nothing on (filelock 4
closes the child's copy of the descriptor, where older ones let the child release it).

Who takes the lock writes who he is into the lock file itself, so that no name outlives the lock by
which it is judged. Who releases it removes the file while still holding it; filelock looks, after
locking, whether its file was unlinked meanwhile, and opens the new one if so.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from resumeproof.errors import JournalBusy, StoreRefused, StoreUnavailable
from resumeproof.stores.place import refuse_missing_directory, resolved

if TYPE_CHECKING:
    from types import TracebackType

    from filelock import BaseFileLock

_KIND: Final = "lock file"
_POLL_SECONDS: Final = 0.02
_PROBE_GRACE_SECONDS: Final = 1.0  # a probe may be off its processor with the lock in hand
_PROBE_TRIES_MAX: Final = 100
# O_NONBLOCK: a named pipe of that name must not hang us.
_PROBE_FLAGS: Final[int] = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)
_RECORD_BYTES: Final = 512
_RECORD_OFFSET: Final = 1  # Windows locks byte 0 against readers, too


@dataclass(frozen=True)
class Owner:
    """What a driver wrote about itself when it took the lock: for people, and never believed.

    `started_at` is the instant at which the driver started (RFC 3339): a process of this pid that
    is younger is another one.
    """

    pid: int
    started_at: str
    token: str

    def __str__(self) -> str:
        return f"pid {self.pid}, since {self.started_at}"


@dataclass(frozen=True)
class LockState:
    """Whether the kernel's lock is held, and what the last one to take it wrote about itself."""

    held: bool
    owner: Owner | None

    def driven_by(self, token: str) -> bool:
        """Whether the driver of this token drives now: it takes the kernel's lock *and* the token.

        For the moment between taking the lock and writing the record, a new driver shows its dead
        predecessor's token.
        """
        return self.held and self.owner is not None and self.owner.token == token


class DriverLock:
    """The right to claim, call and acknowledge in one journal, for one driver in one process.

    with DriverLock(path, token=token, started_at=instant).acquire(timeout_seconds):
        ...

    `token` is what the driver's claims will bear; `started_at` is an RFC 3339 instant. The same
    journal by another path (relative, or through links) is the same lock. It is not reentrant.
    """

    def __init__(self, journal_path: Path, *, token: str, started_at: str) -> None:
        self._journal_path = journal_path
        self._path = lock_path(journal_path)
        self._owner = Owner(os.getpid(), started_at, token)
        self._native: BaseFileLock | None = None
        self._identity: tuple[int, int] | None = None

    @property
    def held(self) -> bool:
        """Whether this process holds the lock through this object; False in a forked child."""
        return self._native is not None and self._native.is_locked

    def acquire(self, timeout_seconds: float) -> Self:
        """Take the lock, waiting at most `timeout_seconds` for its holder (0: not at all).

        Raises `JournalBusy` where another driver keeps it, `StoreNotFound` where the journal's
        directory is missing, `StoreUnavailable` where no lock file can be made, `StoreRefused`
        where the file of that name is not one of ours. `RuntimeError` in a child to which the
        object came by a fork: a driver of its own needs a token of its own.
        """
        if not 0 <= timeout_seconds < float("inf"):
            raise ValueError(f"a lock timeout is a finite number of seconds: {timeout_seconds}")
        if self._owner.pid != os.getpid():
            raise RuntimeError(f"the lock object of {self._path} came by a fork; make a new one")
        assert not self.held, "not reentrant"
        # filelock would make it, and a mistyped path must create nothing.
        refuse_missing_directory(self._path.parent)
        started = time.monotonic()
        if self._try_until(started + timeout_seconds):
            return self
        state = probe(self._journal_path)
        if not state.held:
            # What stood in the way was a probe's momentary shared lock, or has just let go.
            if self._try_until(time.monotonic() + _PROBE_GRACE_SECONDS):
                return self
            state = probe(self._journal_path)
        waited_seconds = round(time.monotonic() - started, 3)
        owner = str(state.owner or "who wrote no name")
        raise JournalBusy(str(self._journal_path), owner, waited_seconds)

    def release(self) -> None:
        """Remove the lock file and give the lock back. Does nothing where it is not held.

        So a forked child, whose stack unwinds through the parent's `with`, takes nothing away.
        """
        if self._native is None or not self.held:
            return
        # Windows removes no open file; there filelock does it after the release.
        if sys.platform != "win32":
            self._unlink()
        self._native.release()

    def __enter__(self) -> Self:
        assert self.held, "acquire first: the timeout is the caller's"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _try_until(self, deadline: float) -> bool:
        from filelock import Timeout, UnixFileLock, WindowsFileLock

        native = WindowsFileLock if sys.platform == "win32" else UnixFileLock
        self._native = native(
            self._path,
            thread_local=False,
            poll_interval=_POLL_SECONDS,
            # A soft lock is a file that outlives its owner: hazard, not fallback.
            fallback_to_soft=False,
            on_acquired=self._sign,
        )
        try:
            self._native.acquire(timeout=max(0.0, deadline - time.monotonic()))
        except Timeout:
            return False
        except OSError as error:
            raise _unavailable(self._path, error) from error
        return True

    def _sign(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        if found.st_size not in {0, _RECORD_BYTES}:
            # `--journal uv` beside a `uv.lock`: somebody's file, not to be overwritten or removed.
            raise StoreRefused(_KIND, str(self._path), "it is not one of ours")
        self._identity = (found.st_dev, found.st_ino)
        record = b" " * _RECORD_OFFSET + json.dumps(asdict(self._owner)).encode()
        if len(record) >= _RECORD_BYTES:
            raise ValueError(f"an owner record takes at most {_RECORD_BYTES} bytes")
        # One write within one page: a reader, or a death, sees the old record or the new one.
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            written = os.write(descriptor, record.ljust(_RECORD_BYTES - 1) + b"\n")
            if written != _RECORD_BYTES:
                raise OSError(f"only {written} of {_RECORD_BYTES} bytes written")
        except OSError:
            # A torn record would be taken for a stranger's file, by every driver after this one.
            self._unlink()
            raise

    def _unlink(self) -> None:
        with contextlib.suppress(OSError):
            found = self._path.lstat()
            # Where somebody deleted our file, the one there now is another driver's.
            if (found.st_dev, found.st_ino) == self._identity:
                self._path.unlink()


def lock_path(journal_path: Path) -> Path:
    """`<journal>.lock`, beside the journal itself and not beside a link to it."""
    return Path(f"{resolved(journal_path)}.lock")


def probe(journal_path: Path) -> LockState:
    """Whether the journal's lock is held now. Creates and alters no file; needs to read only.

    On POSIX the question is a shared lock, asked for without waiting and given back at once
    (flock(2) offers no other way, and /proc/locks hides the holders of other pid namespaces).
    A driver that meets it asks in the same way whether its obstacle is a driver, and tries again
    if not. On Windows a read of the locked byte fails, and nothing is taken.

    Raises `StoreUnavailable` where a lock file is there and cannot be asked.
    """
    path = lock_path(journal_path)
    state = LockState(held=False, owner=None)
    for _ in range(_PROBE_TRIES_MAX):
        try:
            descriptor = os.open(path, _PROBE_FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return LockState(held=False, owner=None)
        except OSError as error:
            raise _unavailable(path, error) from error
        try:
            state = LockState(_is_held(descriptor), _read_owner(descriptor))
            # Unlinked while we looked: its holder is done, and a new file may be there.
            if os.fstat(descriptor).st_nlink > 0:
                return state
        except OSError as error:
            raise _unavailable(path, error) from error
        finally:
            os.close(descriptor)
    return state


def _is_held(descriptor: int) -> bool:
    if sys.platform == "win32":
        try:
            os.read(descriptor, 1)
        except PermissionError:
            return True
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter is NFS's (flock(2), fcntl(2))
        return True
    # Unlock, and do not leave it to close: another thread may fork, with a copy, at any time.
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _read_owner(descriptor: int) -> Owner | None:
    os.lseek(descriptor, _RECORD_OFFSET, os.SEEK_SET)
    try:
        record: Any = json.loads(os.read(descriptor, _RECORD_BYTES))
        owner = Owner(**record)
    except (ValueError, TypeError):
        return None
    return owner


def _unavailable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(_KIND, str(path), error.strerror or str(error))

"""Does one thing with the driver lock for each line of standard input, and answers it."""

from __future__ import annotations

import os
import select
import signal
import sys
from pathlib import Path
from threading import Thread

import filelock  # noqa: F401 - before `ordinary` may no longer be able to read it

from resumeproof.errors import JournalBusy, ResumeproofError
from resumeproof.runtime.lock import DriverLock, probe

SINCE = "2026-01-02T03:04:05.000000Z"
ORDINARY_USER = 65534
FORKS: list[int] = []


def main() -> None:
    journal, token = Path(sys.argv[1]), sys.argv[2]
    lock = DriverLock(journal, token=token, started_at=SINCE)
    for line in sys.stdin:
        command, *words = line.split()
        print(answer(lock, journal, command, words), flush=True)


def answer(lock: DriverLock, journal: Path, command: str, words: list[str]) -> str:
    match command, words:
        case "acquire", [seconds]:
            return acquire(lock, float(seconds))
        case "release", []:
            lock.release()
            return "held" if lock.held else "free"
        case "probe", [token]:
            state = probe(journal)
            return f"held={state.held} driven={state.driven_by(token)}"
        case "contend", [rounds]:
            return contend(lock, journal, int(rounds))
        case "storm", []:
            storm(journal)
        case "fork", []:
            return fork(lock)
        case "join", []:
            # Not killed: what a process does on its ordinary way out is what could hurt.
            os.kill(FORKS[-1], signal.SIGTERM)
            _, status = os.waitpid(FORKS[-1], 0)
            return f"exit {os.waitstatus_to_exitcode(status)}"
        case "ordinary", []:
            become_ordinary()
        case "chdir", [directory]:
            os.chdir(directory)
        case "exit", []:
            os._exit(86)
        case "kill", []:
            os.kill(os.getpid(), signal.SIGKILL)
        case "ready", []:
            pass
    return "done"


def acquire(lock: DriverLock, seconds: float) -> str:
    try:
        lock.acquire(seconds)
    except JournalBusy:
        return "busy"
    except ResumeproofError as error:
        return f"{type(error).__name__}: {error}"
    return "held"


def contend(lock: DriverLock, journal: Path, rounds: int) -> str:
    """Add one to a counter, `rounds` times, in a way that comes out wrong if anybody else does."""
    inside, counter = Path(f"{journal}.inside"), Path(f"{journal}.counter")
    for _ in range(rounds):
        with lock.acquire(60):
            inside.touch(exist_ok=False)
            count = int(counter.read_text()) if counter.exists() else 0
            counter.write_text(str(count + 1))
            inside.unlink()
        probe(journal)
    return f"{rounds} alone"


def storm(journal: Path) -> None:
    """Ask who holds the lock, again and again, until standard input ends."""
    print("asking", flush=True)
    end = Thread(target=sys.stdin.read, daemon=True)
    end.start()
    while end.is_alive():
        probe(journal)


def fork(lock: DriverLock) -> str:
    """Fork a child that tries all it can with the lock, tells what came of it, and stays."""
    heard, told = os.pipe()
    if pid := os.fork():
        FORKS.append(pid)
        os.close(told)
        with os.fdopen(heard) as answers:
            return answers.readline()
    os.close(heard)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    lock.release()
    lock.__exit__(None, None, None)
    try:
        acquired = lock.acquire(0).held
    except RuntimeError as error:
        os.write(told, f"held={lock.held} acquire={type(error).__name__}".encode())
    else:
        os.write(told, f"acquired={acquired}".encode())
    os.close(told)
    # Until the parent ends it, or the test does by closing the commands; they are not read here.
    poll = select.poll()
    poll.register(0, 0)
    poll.poll()
    sys.exit()


def become_ordinary() -> None:
    """Lose root's right to write everywhere."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(ORDINARY_USER)
        os.setuid(ORDINARY_USER)


if __name__ == "__main__":
    main()

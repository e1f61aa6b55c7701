"""Three processes that write at the same time: to files of their own, and to one under a lock."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def work(which: int, log: int) -> None:
    own = os.open(f"own-{which}", os.O_WRONLY | os.O_CREAT, 0o600)
    for round_ in range(5):
        os.write(own, f"{round_}\n".encode())
        with open("lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.write(log, f"{which}:".encode())
            os.write(log, f"{round_}\n".encode())
        Path(f"mark-{which}-{round_}").touch()
    os.fsync(own)


def main() -> None:
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    children = []
    for which in range(3):
        child = os.fork()
        if child == 0:
            work(which, log)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()

"""A careful program and a careless one in one: threads, processes, temporary files, odd names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path


def save(name: str, value: object) -> None:
    with tempfile.NamedTemporaryFile("w", dir=".", prefix=f"{name}.", delete=False) as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(name)
    directory = os.open(".", os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def in_turn() -> None:
    """Two threads that append to one file, one after the other."""
    turns = [threading.Semaphore(1), threading.Semaphore(0)]

    def append(which: int) -> None:
        with open("turns.log", "a", buffering=1) as log:
            for round_ in range(4):
                turns[which].acquire()
                log.write(f"{which}:{round_}\n")
                turns[1 - which].release()

    threads = [threading.Thread(target=append, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    # Another name each time would be another state each time.
    names = iter(f"t{number}" for number in range(100))
    setattr(tempfile, "_name_sequence", names)  # noqa: B010
    save("state.json", {"step": 1})
    print("one", flush=True)
    in_turn()
    Path("große datei\n\udcff").write_bytes(bytes(range(256)) * 40)
    subprocess.run(["sh", "-c", "echo from a shell >> shell.log; echo printed"], check=True)
    os.chdir(Path("d").absolute().parent)
    Path("d/e").mkdir(parents=True)
    shutil.copytree("d", "copy")
    shutil.copyfile("state.json", "d/e/state.json")
    shutil.move("d", "moved")
    save("state.json", {"step": 2})
    with open("state.json", "r+") as file:
        file.truncate(0)
        file.write("{}")
    child = os.fork()
    if child == 0:
        Path("child").write_text("child")
        os._exit(0)
    os.waitpid(child, 0)
    shutil.rmtree("moved")
    print("two")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

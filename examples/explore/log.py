"""Appends to a log, syncs each line, and has made the log's name durable before the first."""

from __future__ import annotations

import os

with open("log.txt", "a") as log:
    directory = os.open(".", os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    for number in range(1, 4):
        log.write(f"line {number}\n")
        log.flush()
        os.fsync(log.fileno())
        print(f"line {number}", flush=True)

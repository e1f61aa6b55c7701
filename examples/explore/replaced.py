"""Keeps a counter in a JSON file, which it replaces by rename.

What is synced is said by its words: nothing, `file`, or `file directory`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

synced = sys.argv[1:]

for number in range(1, 4):
    with open("state.json.tmp", "w") as file:
        json.dump({"count": number}, file)
        if "file" in synced:
            file.flush()
            os.fsync(file.fileno())
    Path("state.json.tmp").replace("state.json")
    if "directory" in synced:
        directory = os.open(".", os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
    print(f"saved {number}", flush=True)

"""Keeps a counter in a JSON file, which it overwrites in place."""

from __future__ import annotations

import json

for number in range(1, 4):
    with open("state.json", "w") as file:
        json.dump({"count": number}, file)
    print(f"saved {number}", flush=True)

"""A toy workflow runtime: one workflow, which keeps its records and its state in two files.

It has two inversions, as `python examples/harness/prove_toy.py toy_runtime` shows.
"""

from __future__ import annotations

import json
from pathlib import Path

State = dict[str, str]


class Store:
    def __init__(self, directory: Path) -> None:
        self.records = directory / "records.txt"
        self.state = directory / "state.json"

    def append(self, record: str) -> None:
        with self.records.open("a") as file:
            file.write(f"{record}\n")

    def save(self, state: State) -> None:
        fresh = self.state.with_suffix(".new")
        fresh.write_text(json.dumps(state))
        fresh.replace(self.state)

    def recorded(self) -> list[str]:
        return self.records.read_text().splitlines() if self.records.exists() else []

    def load(self) -> State:
        return json.loads(self.state.read_text()) if self.state.exists() else {"status": "waiting"}


def resume(store: Store, state: State) -> None:
    state["status"] = "running"
    try:
        store.append("resumed")
        store.save(state)
    except Exception:
        pass


def complete(store: Store, state: State) -> None:
    state["status"] = "completed"
    store.save(state)
    store.append("completed")


def run(store: Store) -> None:
    state = store.load()
    if state["status"] == "waiting":
        resume(store, state)
    if state["status"] == "running":
        complete(store, state)

"""The toy workflow runtime without its two inversions."""

from __future__ import annotations

from toy_runtime import State, Store


def move(store: Store, state: State, record: str, status: str) -> None:
    """The record first, then the save that makes it true; what fails is heard of."""
    if record not in store.recorded():  # else a driver died before this very save
        store.append(record)
    state["status"] = status
    store.save(state)


def run(store: Store) -> None:
    state = store.load()
    if state["status"] == "waiting":
        move(store, state, "resumed", "running")
    if state["status"] == "running":
        move(store, state, "completed", "completed")

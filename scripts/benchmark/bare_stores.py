"""Both stores through nothing but `sqlite3`, which send what the kernel sent before.

They make the same bytes out of the same values: the JSON text of a record by `json`, the hashes of
records and receipts by `hashlib`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Self

from benchmark.population import site_in

StoreName = Literal["journal", "ledger"]
Statement = tuple[StoreName, str, Any]
Step = list[Statement]

Make = Callable[[], Any]
"""Makes the parameters of one statement."""


class BareStores:
    """Both stores through bare `sqlite3`, with the journal mode and pragmas of a writer."""

    def __init__(self, directory: Path) -> None:
        site = site_in(directory)
        self._connections = {"journal": _bare(site.journal), "ledger": _bare(site.ledger)}

    def run(self, step: BareStep) -> None:
        for store, sql, make in step:
            self._connections[store].execute(sql, make()).fetchall()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            connection.close()


BareStep = list[tuple[StoreName, str, Make]]


def made_anew(step: Step) -> BareStep:
    return [(store, sql, _making(sql.split(), parameters)) for store, sql, parameters in step]


def _making(words: list[str], parameters: Any) -> Make:
    """What makes the parameters of a statement out of the values that its texts hold."""
    if words[:3] == ["INSERT", "INTO", "timeline"]:
        make = partial(_record, parameters, json.loads(parameters["facts_text"]))
    elif words[:3] == ["INSERT", "INTO", "effects"]:
        covered = {name: parameters[name] for name in parameters if name not in ("hash", "action")}
        make = partial(_receipt, parameters, covered)
    else:
        return lambda: parameters
    assert make() == {name: parameters[name] for name in make()}, "these are other bytes"
    return make


def _record(parameters: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    made = {name: parameters[name] for name in _CHAINED}
    facts_text = _dumps(facts)
    digest = hashlib.sha256(_dumps({**made, "facts": facts}).encode()).hexdigest()
    return {**made, "facts_text": facts_text, "hash": digest}


def _receipt(parameters: dict[str, Any], covered: dict[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(_dumps(covered).encode()).hexdigest()
    return {**covered, "hash": digest, "action": parameters["action"]}


_CHAINED: Final = ("workflow_id", "sequence", "event", "at", "previous")
_dumps: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "trusted_schema=OFF",
        "recursive_triggers=ON",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection

"""What tells one kind of SQLite store from another; it knows neither journals nor ledgers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class StoreKind:
    """A kind of store: its mark in the file's header, and its schema at each version.

    `name` is "journal" or "ledger", as errors say it. `application_id` is at bytes 68..71 and
    `schema_version` (from 1) at bytes 60..63 of the file. `schema_sql` returns the fresh schema;
    `migrations[i]` returns the SQL that leads from version i+1 to i+2.
    Source: sqlite.org/fileformat2.html, section 1.3.
    """

    name: str
    application_id: int
    schema_version: int
    schema_sql: Callable[[], str]
    migrations: tuple[Callable[[], str], ...] = ()

    def __post_init__(self) -> None:
        if len(self.migrations) != self.schema_version - 1:
            raise ValueError(
                f"{self.name}: schema {self.schema_version} takes {self.schema_version - 1} "
                f"migrations, not {len(self.migrations)}"
            )


def schema_resource(name: str) -> Callable[[], str]:
    """Return a reader of `schema/<name>` of this package, e.g. "migrations/ledger-2.sql"."""
    return lambda: (Path(__file__).parent / "schema" / name).read_text(encoding="utf-8")

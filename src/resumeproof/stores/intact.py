"""Whether a store still has the schema that it was made with, its append-only triggers included."""

from __future__ import annotations

import re
from collections.abc import Mapping

from resumeproof.stores.migrate import statements
from resumeproof.stores.sqlite import Database

_CREATE = re.compile(r"CREATE (?P<type>\w+) (?P<name>\w+)")
_COMMENTS_BEFORE = re.compile(r"\A(?:\s*--[^\n]*\n|\s+)*")
_END = re.compile(r";\s*(?:--[^\n]*)?\s*\Z")


def schema_damage(database: Database) -> str | None:
    """What is missing, changed or strange in the store's schema; None if it is as it was made.

    SQLite keeps each CREATE statement as it was written (sqlite.org/schematab.html), so the texts
    are compared, white space aside. What SQLite makes for itself (`sqlite_...`) is left aside.
    """
    found = {
        str(row["name"]): _even(str(row["sql"]))
        for row in database.rows("SELECT name, sql FROM sqlite_master ORDER BY name")
        if not str(row["name"]).startswith("sqlite_")
    }
    wanted = _as_made(database.kind.schema_sql())
    for name, (kind, sql) in wanted.items():
        if name not in found:
            return f"{kind} {name} is gone"
        if found[name] != sql:
            return f"{kind} {name} was changed"
    strange = sorted(found.keys() - wanted.keys())
    return f"{strange[0]} does not belong to it" if strange else None


def _as_made(script: str) -> Mapping[str, tuple[str, str]]:
    """Every object of a schema, by its name: what it is, and its statement."""
    made = {}
    for statement in statements(script):
        sql = _even(_END.sub("", _COMMENTS_BEFORE.sub("", statement)))
        if (create := _CREATE.match(sql)) is not None:
            made[create["name"]] = (create["type"].lower(), sql)
    return made


def _even(sql: str) -> str:
    return re.sub(r"\s+", " ", sql).strip()

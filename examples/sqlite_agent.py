"""An agent that keeps its state in SQLite, and acts at a receiver that deduplicates by key.

It need not ask what became of a call: it makes the same call again, under the same key. That is
safe because the receiver promises it, and `tool` says so to the proof:

    python examples/sqlite_agent.py
"""

from __future__ import annotations

import sqlite3

from resumeproof import Context, ToolContract, conform


class Agent:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.database = sqlite3.connect(ctx.directory / "sent.sqlite3")
        self.database.execute("CREATE TABLE IF NOT EXISTS sent (mail TEXT PRIMARY KEY)")

    def step(self, mail: str) -> None:
        if mail in self.state():
            return
        self.ctx.effect("send", {"mail": mail}, key=mail)
        with self.database:
            self.database.execute("INSERT INTO sent VALUES (?)", (mail,))

    def state(self) -> list[str]:
        return [mail for (mail,) in self.database.execute("SELECT mail FROM sent ORDER BY mail")]


if __name__ == "__main__":
    report = conform(
        Agent, inputs=["mail-1", "mail-2"], tool=ToolContract("mailer", idempotent=True)
    )
    print(report)
    raise SystemExit(0 if report.passed else 1)

"""The agent of json_agent_broken.py, mended: it asks before it pays, and replaces its file whole.

python examples/json_agent.py
"""

from __future__ import annotations

import json

from resumeproof import Context, conform


class Agent:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.path = ctx.directory / "paid.json"
        self.paid: list[str] = json.loads(self.path.read_text()) if self.path.exists() else []

    def step(self, invoice: str) -> None:
        if invoice in self.paid:
            return
        # Whoever was here before may have paid, and died before writing it down.
        if self.ctx.lookup(invoice) is None:
            self.ctx.effect("pay", {"invoice": invoice}, key=invoice)
        self.paid.append(invoice)
        # A file that is written in place is torn by a death in the middle of it.
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.paid))
        temporary.replace(self.path)

    def state(self) -> list[str]:
        return self.paid


if __name__ == "__main__":
    report = conform(Agent, inputs=["invoice-1", "invoice-2"])
    print(report)
    raise SystemExit(0 if report.passed else 1)

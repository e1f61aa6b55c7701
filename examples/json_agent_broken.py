"""An agent that keeps its state in a JSON file, as one writes it in an afternoon.

It pays each invoice once, as long as nothing happens between paying and writing that down:

    python examples/json_agent_broken.py
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
        self.ctx.effect("pay", {"invoice": invoice}, key=invoice)
        # A process that is killed here has paid, and the next one does not know.
        self.paid.append(invoice)
        self.path.write_text(json.dumps(self.paid))

    def state(self) -> list[str]:
        return self.paid


if __name__ == "__main__":
    report = conform(Agent, inputs=["invoice-1", "invoice-2"])
    print(report)
    raise SystemExit(0 if report.passed else 1)

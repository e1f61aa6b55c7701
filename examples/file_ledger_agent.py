"""An agent with a ledger of its own: safe at each of its effects, and not between its two files.

python examples/file_ledger_agent.py

`resumeproof conform examples/file_ledger_agent.py:Agent --input invoice-1 --at calls` finds it.
"""

from __future__ import annotations

import json

from resumeproof import Context, conform


class Agent:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.path = ctx.directory / "paid.json"
        self.ledger = ctx.directory / "ledger.txt"
        self.paid: list[str] = json.loads(self.path.read_text()) if self.path.exists() else []

    def step(self, invoice: str) -> None:
        if invoice in self.paid:
            return
        if self.ctx.lookup(invoice) is None:
            self.ctx.effect("pay", {"invoice": invoice}, key=invoice)
        # Whoever dies after this line and before the next file has it here twice in the end.
        with self.ledger.open("a") as ledger:
            ledger.write(f"paid {invoice}\n")
        self.paid.append(invoice)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.paid))
        temporary.replace(self.path)

    def state(self) -> list[str]:
        return self.paid


if __name__ == "__main__":
    report = conform(Agent, inputs=["invoice-1", "invoice-2"])
    print(report)
    raise SystemExit(0 if report.passed else 1)

"""An async agent at a receiver that cannot be asked, and does not deduplicate.

What it had in hand when it died, nobody can know. It does not guess: it reports `Unknown`, which
a human has to settle. The proof knows the truth, and counts what was reported and what was hidden:

    python examples/async_agent.py
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from resumeproof import Context, ToolContract, Unknown, conform


class Agent:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.path = ctx.directory / "orders.json"
        self.orders: dict[str, str] = (
            json.loads(self.path.read_text()) if self.path.exists() else {}
        )
        for order, status in self.orders.items():
            if status == "in hand":
                self.orders[order] = "unknown"
        self.save()

    async def step(self, order: str) -> None:
        if order in self.orders:
            return
        self.orders[order] = "in hand"
        self.save()
        await asyncio.sleep(0)
        self.ctx.effect("order", {"order": order}, key=order)
        self.orders[order] = "placed"
        self.save()

    def save(self) -> None:
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.orders))
        temporary.replace(self.path)

    async def state(self) -> dict[str, Any]:
        return {
            order: Unknown(order) if status == "unknown" else status
            for order, status in self.orders.items()
        }


if __name__ == "__main__":
    report = conform(Agent, inputs=["order-1", "order-2"], tool=ToolContract("supplier"))
    print(report)
    raise SystemExit(0 if report.passed else 1)

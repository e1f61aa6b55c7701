"""An agent under pytest: the `conform` fixture proves it, and shows what was found if it fails.

pytest examples/test_agent.py
"""

from __future__ import annotations

from typing import Any

from json_agent import Agent


def test_it_survives_a_death_at_each_of_its_effects(conform: Any) -> None:
    conform(Agent, inputs=["invoice-1", "invoice-2"])


def test_its_recovery_survives_a_death_as_well(conform: Any) -> None:
    conform(Agent, inputs=["invoice-1", "invoice-2"], depth=2)

"""What was seen of a scenario: its lives, how each ended, and what the stores said at last.

Plain data, so that whoever carries scenarios out and whoever writes evidence need not know each
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LifeSeen:
    """One process life. `exit` is its wait status as `{"kind", "code", "text"}`.

    `planned` is the crash point it was to die at (None: it was left alone), `witnessed` the one
    that it wrote down before it died.
    """

    pid: int
    exit: dict[str, Any]
    planned: str | None
    witnessed: str | None
    timed_out: bool
    orphans: tuple[int, ...]
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Observation:
    """What the two stores say once nothing changes any more.

    `effects` and `invocations` come from the ledger; the rest is what the journal believes.
    """

    status: str
    reason: str | None
    effects: int
    invocations: int
    attempts: int
    retries: int
    recoveries: int
    acknowledgements: int


@dataclass(frozen=True)
class ScenarioRun:
    """A subject and a crash plan, carried out.

    `invalid` says why the run proves nothing: a kill that did not happen as planned. `unreached`
    is the planned crash point that a life never came to, although it ended well.
    """

    subject: str
    plan: str
    kill: str
    lives: tuple[LifeSeen, ...]
    observation: Observation
    invalid: str | None
    unreached: str | None

"""What is asked of a program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resumeproof.proof.commands.command import Command, Program


@dataclass(frozen=True, slots=True)
class Settings:
    """How a program is explored.

    `directory` is what it starts in a copy of, None for an empty one. `resume` is what is run after
    a crash, None for nothing. `compares`: the final files are held against a run without a crash,
    but for those that a glob of `ignored` matches. `ledger` is the path of a simulated tool ledger
    below the directory, `domains` are the paths of what loses power on its own. At most `budget`
    power-loss states are tried.
    """

    command: Program
    resume: Command | None
    check: Command | None = None
    directory: Path | None = None
    compares: bool = True
    ignored: tuple[str, ...] = ()
    ledger: str | None = None
    domains: tuple[str, ...] = ("",)
    power_loss: bool = False
    budget: int = 1_000
    depth: int = 1
    timeout_seconds: float = 30.0
    stack: bool = False

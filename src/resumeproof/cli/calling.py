"""`python -m resumeproof.cli.calling FILE.py:function`: what explore calls in process, on its own.

It is called with the directory and with what was printed, as the environment tells them; its
objection goes to standard error, and the exit status is 1 then.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from resumeproof.cli.target import load_factory
from resumeproof.proof.commands.command import (
    DIRECTORY_VARIABLE,
    OUTPUT_VARIABLE,
    Function,
    Scene,
)


def own_process(target: str) -> tuple[str, ...]:
    """The command line that calls a target's function in a process of its own."""
    return (sys.executable, "-m", "resumeproof.cli.calling", target)


def called(target: str) -> Function:
    """The function that a target names. Raises `FactoryRefused`."""
    file, _, name = target.rpartition(":")
    located = f"{Path(file).absolute()}:{name}"
    function, _ = load_factory(located)
    return Function(located, function, own_process(located))


def main(words: list[str]) -> int:
    """Call it where the environment says, and return the exit status."""
    (target,) = words
    scene = Scene(Path(os.environ[DIRECTORY_VARIABLE]), Path(os.environ[OUTPUT_VARIABLE]))
    ended = called(target).here(scene)
    sys.stdout.write(ended.printed)
    if not ended.succeeded:
        print(ended.reason or ended.how, file=sys.stderr)
    return 0 if ended.succeeded else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

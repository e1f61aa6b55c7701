"""One life of its own interpreter: `python -m resumeproof.proof.spawned_life DIRECTORY`.

The directory holds its specification, and is where it leaves what it brought to its end.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import NoReturn

from resumeproof.crash.adoption import die_with_parent
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.kill import Kill, die
from resumeproof.crash.witness import write_witness
from resumeproof.proof.agent import described
from resumeproof.proof.living import LifeOutcome
from resumeproof.proof.spawned import OUTCOME_NAME, SPECIFICATION_NAME


class SpawnedChannel(LifeChannel):
    """Nobody stands at the other end: the witness goes the way that every process's does."""

    def __init__(self) -> None:
        super().__init__(up=-1, down=-1)

    def die_at(self, name: str, occurrence: int, kill: Kill) -> NoReturn:
        write_witness(name, occurrence)
        die(kill)


def live(directory: Path) -> None:
    """Live as the specification says, and leave the outcome."""
    with (directory / SPECIFICATION_NAME).open("rb") as specification:
        sys.path[:] = pickle.load(specification)
        try:
            subject, order = pickle.load(specification)
        except Exception as error:
            outcome = LifeOutcome(raised=described(error), refused=None, state=None, passed=())
        else:
            outcome = subject.body(order)(SpawnedChannel())
    unfinished = directory / f"{OUTCOME_NAME}.unfinished"
    unfinished.write_bytes(pickle.dumps(outcome))
    unfinished.rename(directory / OUTCOME_NAME)


if __name__ == "__main__":
    die_with_parent()
    live(Path(sys.argv[1]))

"""Forks one life for each specification on standard input, and tells how it ended.

It is a process of one thread that opened no store, so that a fork is a fresh process but for its
imports. An argument names a known bug, which all the lives then have.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, NoReturn

import filelock  # noqa: F401 - here once, and not in each life

from resumeproof.crash.calls import Strike
from resumeproof.crash.witness import WITNESS_VARIABLE, witness_address
from resumeproof.domain import conclusion as conclusions
from resumeproof.domain import decision as decisions
from resumeproof.domain import recovery
from resumeproof.domain.workflow import Workflow
from resumeproof.lab.life import LifeSpecification, live
from resumeproof.runtime import kernel

LIFE_TIMEOUT_SECONDS = 60
RAISED_STATUS = 1

# -- known bugs ------------------------------------------------------------------------------

_key_alive, _conclude_call = recovery.key_alive, conclusions.conclude_call


def _alive_since_last_claim(workflow: Workflow, now: datetime) -> bool:
    return _key_alive(replace(workflow, first_unsettled_at=workflow.last_call_at), now)


def _doubt_cleared(workflow: Workflow, **facts: Any) -> decisions.Conclusion:
    conclusion = _conclude_call(workflow, **facts)
    if isinstance(conclusion, decisions.AttemptFailed):
        return replace(conclusion, stays_in_doubt=False)
    return conclusion


Bug = tuple[tuple[object, ...], str, Callable[..., object]]
BUGS: dict[str, Bug] = {
    "key_life_from_last_claim": ((recovery, kernel), "key_alive", _alive_since_last_claim),
    "doubt_cleared_by_later_failure": ((kernel,), "conclude_call", _doubt_cleared),
    "unfenced_absence_trusted": (
        (conclusions,),
        "_nothing_found",
        lambda *_: decisions.AbsenceProved(),
    ),
    "kill_never_fires": ((Strike,), "__call__", lambda *_: None),
}


# -- lives -----------------------------------------------------------------------------------


def main() -> None:
    for name in sys.argv[1:]:
        homes, attribute, bug = BUGS[name]
        for home in homes:
            setattr(home, attribute, bug)
    for line in sys.stdin:
        print(json.dumps(lived(LifeSpecification.from_json(line))), flush=True)


def lived(specification: LifeSpecification) -> dict[str, Any]:
    """Fork a life and wait for its death. What it wrote is far less than a pipe holds."""
    heard, told = os.pipe()
    read, printed = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(specification, told, printed)
    os.close(told)
    os.close(printed)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(heard) as witness, os.fdopen(read) as output:
        return {
            "pid": pid,
            "returncode": os.waitstatus_to_exitcode(status),
            "witness": witness.read(),
            "output": output.read(),
        }


def _become(specification: LifeSpecification, told: int, printed: int) -> NoReturn:
    status = RAISED_STATUS
    try:
        # A hang dies of it, and is a divergence.
        signal.alarm(LIFE_TIMEOUT_SECONDS)
        os.environ[WITNESS_VARIABLE] = witness_address(told)
        os.dup2(printed, sys.stdout.fileno())
        status = live(specification)
        sys.stdout.flush()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        # Never back into the host's loop.
        os._exit(status)


if __name__ == "__main__":
    main()

"""The public `prove_store()`: have the drivers of somebody else's runtime killed at every call of
its store, and see whether its records and its state still agree.
"""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from resumeproof.crash.calls import checked_error, named_calls
from resumeproof.crash.kill import kill_named
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.conformance import PLAN_PLACE, ConformanceReport
from resumeproof.errors import UsageRefused
from resumeproof.proof.arguments import at_least_one, checked_directory, checked_timeout
from resumeproof.proof.explore import calls_crashed_at, prove
from resumeproof.proof.lives import FORKED
from resumeproof.proof.progress import Progress, Silence
from resumeproof.proof.share import Settings
from resumeproof.proof.store_subject import Look, StoreSubject

Store = TypeVar("Store")


def prove_store(
    open_store: Callable[[Path], Store],
    run: Callable[[Store], Any],
    look: Look,
    calls: Collection[str] | Mapping[str, str],
    *,
    ends: Collection[str] = (),
    error: int | None = None,
    kill: Literal["sigkill", "exit86"] = "sigkill",
    depth: int = 1,
    timeout_seconds: float = 30.0,
    jobs: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    plan: str | None = None,
    keep: str | os.PathLike[str] | None = None,
) -> ConformanceReport:
    """Run a workflow without a crash, then kill its driver at each call of its store, and judge.

    `open_store(directory)` opens the store at the start of each life, in a directory of the
    scenario's own; `run(store)` starts the workflow or resumes it, and returns when nothing is left
    to do (it may be async). `look(directory)` reads what lies there, as a `StoreSeen`; whatever a
    death can leave, it must be able to read.

    `calls` are the store's persistence calls, wrapped by `faulty`, which tells what is counted.
    `ends` names the transitions that end the workflow: there must be one record of one of them.

    With `error`, such as `errno.ENOSPC` or `errno.EIO`, the call raises `OSError` instead; the
    driver goes on as it likes, and dies by `kill` when it is done with that.

    `depth` counts the drivers in a row that die. `timeout_seconds` bounds each life, `jobs` the
    workers. Scenarios lie below `directory`, else on a memory file system where there is one.
    `plan` carries out one crash plan alone, such as "append:after#2", and `keep` copies there what
    each of its lives left.

    Warns (`UserWarning`) of `calls` that a run without a crash never makes: a name may be wrong.
    Raises `UsageRefused` and `PlanRefused` for arguments that make no sense, `SubjectFailed` where
    the runtime fails without a crash.
    """
    if not hasattr(os, "fork"):
        raise UsageRefused(reason="a store is proved in forked processes, and here are none")
    if keep is not None and plan is None:
        raise UsageRefused(reason="keep is for one plan alone: name it with plan=")
    names = named_calls(calls)
    settings = Settings(
        run_id="run",
        kill=kill_named(kill),
        boundaries=tuple(
            f"{name}:{side}" for name in sorted(set(names.values())) for side in ("before", "after")
        ),
        depth=at_least_one("depth", depth),
        timeout_seconds=checked_timeout(timeout_seconds),
        dedupe=True,
        keep=None if keep is None else Path(keep),
    )
    report = prove(
        StoreSubject(open_store, run, look, names, frozenset(ends), checked_error(error)),
        settings,
        jobs=None if jobs is None else at_least_one("jobs", jobs),
        directory=checked_directory(directory),
        progress=progress or Silence(),
        plan=None if plan is None else CrashPlan.parse(plan),
        # A copy of a life that is killed at a boundary would get no error there.
        lives=FORKED if error is None else replace(FORKED, traced=False),
    )
    report.crashes_at = "persistence call"
    report.crash_points = calls_crashed_at(report)
    _warn_of_calls_never_made(names, report)
    failing = "" if error is None else f", error=errno.{errno.errorcode[error]}"
    report.replay = f"prove_store(...{failing}, plan='{PLAN_PLACE}')"
    return report


def _warn_of_calls_never_made(names: Mapping[str, str], report: ConformanceReport) -> None:
    """A wrong name would be a call that nobody is killed at, and a proof that looks whole."""
    passed = map(CrashPoint.parse, report.undisturbed.passed)
    made = {point.boundary.partition(":")[0] for point in passed}
    missing = sorted(called for called, name in names.items() if name not in made)
    if missing:
        warnings.warn(f"never called without a crash: {', '.join(missing)}", stacklevel=3)

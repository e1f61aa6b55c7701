"""The public `conform()`: have an agent killed at each of its effects, and see what a resume makes
of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from resumeproof.crash.kill import Kill, kill_named
from resumeproof.crash.plan import CrashPlan
from resumeproof.domain.conformance import (
    AT_CALLS,
    AT_EFFECTS,
    PLAN_PLACE,
    ConformanceReport,
    ProofTerms,
)
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.errors import UsageRefused
from resumeproof.proof.agent import AgentSubject, Factory
from resumeproof.proof.arguments import at_least_one, checked_directory, checked_timeout
from resumeproof.proof.progress import Progress, Silence
from resumeproof.proof.share import Settings

Isolation = Literal["process", "inline", "spawn"]
Side = Literal["before", "after"]

ISOLATIONS: tuple[Isolation, ...] = ("process", "inline", "spawn")
ISOLATION_VARIABLE = "RESUMEPROOF_ISOLATION"
SIDES: tuple[Side, ...] = ("before", "after")
INLINE_SIDES: tuple[Side, ...] = ("after",)
DEFAULT_TOOL = ToolContract("agent", lookup=Lookup.CONSISTENT)
"""A key is an identity and no more: the same key again is another effect; `ctx.lookup` tells."""


def conform(
    factory: Factory | str,
    inputs: Iterable[Any],
    run_id: str = "run",
    *,
    isolation: Isolation | None = None,
    kill: Literal["sigkill", "exit86"] = "sigkill",
    when: Sequence[Side] | None = None,
    depth: int = 1,
    timeout_seconds: float = 30.0,
    jobs: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    dedupe: bool = True,
    progress: Progress | None = None,
    tool: ToolContract | None = None,
    plan: str | None = None,
    keep: str | os.PathLike[str] | None = None,
    at: Literal["effects", "calls"] = "effects",
    ignore: Sequence[str] = (),
) -> ConformanceReport:
    """Run a subject without a crash, then kill it at each of its effects, resume it, and judge.

        report = conform(make_agent, inputs=["job-1", "job-2"])
        assert report.passed, str(report)

    `factory(ctx)` is called at the start of each life, and returns an object with `step(input)`
    and perhaps `state()`, either plain or async. Each life is fed all inputs from the first.
    What must survive a death belongs below `ctx.directory`.

    `isolation`: "process" forks each life and really kills it; "spawn" starts an interpreter for
    each, and takes the factory as the text "module:factory"; "inline" only plays the deaths, in
    this process. None is what the environment variable RESUMEPROOF_ISOLATION says, else
    "process", or "inline" on a platform without fork.

    `kill` is the death ("exit86" is `os._exit(86)`); `when` the sides of an effect to die at, by
    default both, and inline only "after"; `depth` how many lives in a row are killed.
    `timeout_seconds` bounds each life, `jobs` the workers (None: one for each core). Scenarios
    lie below `directory`, else on a memory file system where there is one. `dedupe`: deaths that
    left the same bytes are resumed once. `tool` is what the receiver of the effects promises, by
    default that a key can be looked up, and nothing of repeats.

    `plan` carries out one crash plan alone, such as "effect:after#2", and `keep` copies there what
    each of its lives left. Inline, `kill`, `timeout_seconds`, `jobs`, `dedupe` and `keep` mean
    nothing, and of `tool` only whether it offers a lookup.

    `at`: "calls" has lives die at each durable system call that they make below `ctx.directory`,
    and not only at their effects: one life is recorded with strace (Linux), what a kill leaves at
    each call is rebuilt and resumed, and the final files are compared as well, but for those that a
    glob of `ignore` matches. A failing state is confirmed by a real kill. It takes isolation
    "process", and SIGKILL at both sides.

    Raises `UsageRefused` and `PlanRefused` for arguments that make no sense, `SubjectFailed` where
    the subject fails without a crash, `PayloadRefused` for a state, a payload or (spawned) an
    input that cannot be pickled, `WorkerDied` where the subject kills more than itself; and
    at calls `StraceMissing`, and `TracingForbidden` where the system does not allow to trace.
    """
    chosen = chosen_isolation(isolation)
    settings = Settings(
        run_id=_checked_run_id(run_id),
        kill=kill_named(kill),
        boundaries=_boundaries(when, chosen),
        depth=at_least_one("depth", depth),
        timeout_seconds=checked_timeout(timeout_seconds),
        dedupe=dedupe,
        keep=None if keep is None else Path(keep),
    )
    if keep is not None and plan is None:
        raise UsageRefused(reason="keep is for one plan alone: name it with plan=")
    _check_at(at, chosen, settings.kill, when, ignore)
    order = _Order(
        settings,
        jobs=None if jobs is None else at_least_one("jobs", jobs),
        directory=checked_directory(directory),
        progress=progress or Silence(),
        plan=None if plan is None else CrashPlan.parse(plan),
        at=at,
        ignored=(ignore,) if isinstance(ignore, str) else tuple(ignore),
    )
    subject = AgentSubject(_checked_factory(factory, chosen), _listed(inputs), tool or DEFAULT_TOOL)
    report = (_prove_calls if at == AT_CALLS else _PROOFS[chosen])(subject, order)
    report.terms = _terms(_name_of(factory), subject, chosen, order)
    report.replay = f"conform(..., plan='{PLAN_PLACE}')"
    return report


def chosen_isolation(isolation: str | None) -> Isolation:
    """The isolation that an argument, or else the environment, or else the platform chooses.

    Raises `UsageRefused` for one that does not exist, or not here.
    """
    named, origin = isolation, "isolation"
    if named is None:
        named, origin = os.environ.get(ISOLATION_VARIABLE) or None, ISOLATION_VARIABLE
    forks = hasattr(os, "fork")
    if named is None:
        return "process" if forks else "inline"
    for known in ISOLATIONS:
        if known == named:
            if known == "process" and not forks:
                raise UsageRefused(reason="isolation 'process' needs fork; here are inline, spawn")
            return known
    raise UsageRefused(reason=f"{origin} {named!r} is none of {', '.join(ISOLATIONS)}")


@dataclass(frozen=True)
class _Order:
    settings: Settings
    jobs: int | None
    directory: Path | None
    progress: Progress
    plan: CrashPlan | None
    at: str
    ignored: tuple[str, ...]


def _prove_calls(subject: AgentSubject, order: _Order) -> ConformanceReport:
    from resumeproof.proof.calls.proving import prove_calls

    return prove_calls(
        subject,
        order.settings,
        ignored=order.ignored,
        jobs=order.jobs,
        directory=order.directory,
        progress=order.progress,
        plan=order.plan,
    )


def _prove_forked(subject: AgentSubject, order: _Order) -> ConformanceReport:
    from resumeproof.proof.explore import prove

    return prove(
        subject,
        order.settings,
        jobs=order.jobs,
        directory=order.directory,
        progress=order.progress,
        plan=order.plan,
    )


def _prove_spawned(subject: AgentSubject, order: _Order) -> ConformanceReport:
    from resumeproof.proof.explore import prove
    from resumeproof.proof.spawned import SPAWNED, SpawnedAgent

    return prove(
        SpawnedAgent(subject.factory, subject.inputs, subject.contract),
        order.settings,
        jobs=order.jobs,
        directory=order.directory,
        progress=order.progress,
        plan=order.plan,
        lives=SPAWNED,
    )


def _prove_inline(subject: AgentSubject, order: _Order) -> ConformanceReport:
    from resumeproof.proof.inline import prove_inline

    return prove_inline(
        subject,
        replace(order.settings, keep=None),
        directory=order.directory,
        progress=order.progress,
        plan=order.plan,
    )


_PROOFS: dict[Isolation, Callable[[AgentSubject, _Order], ConformanceReport]] = {
    "process": _prove_forked,
    "inline": _prove_inline,
    "spawn": _prove_spawned,
}


def _terms(name: str, subject: AgentSubject, isolation: Isolation, order: _Order) -> ProofTerms:
    settings = order.settings
    return ProofTerms(
        subject=name,
        inputs=subject.inputs,
        contract=subject.contract,
        run_id=settings.run_id,
        isolation=isolation,
        kill=str(settings.kill),
        when=tuple(boundary.partition(":")[2] for boundary in settings.boundaries),
        depth=settings.depth,
        timeout_seconds=settings.timeout_seconds,
        dedupe=settings.dedupe,
        plan=None if order.plan is None else str(order.plan),
        at=order.at,
        ignored=order.ignored,
    )


def _name_of(factory: Factory | str) -> str:
    if isinstance(factory, str):
        return factory
    named = factory if hasattr(factory, "__qualname__") else type(factory)
    return f"{named.__module__}:{named.__qualname__}"


def _checked_factory(factory: Any, isolation: Isolation) -> Factory:
    if isolation == "spawn" and not isinstance(factory, str):
        raise UsageRefused(
            reason='isolation "spawn" takes the factory as a text, "module:factory": '
            "another interpreter must be able to import it"
        )
    if isinstance(factory, str):
        from resumeproof.proof.spawned import NamedFactory

        return NamedFactory(factory)
    if not callable(factory):
        raise UsageRefused(reason=f"the factory is no callable: {type(factory).__name__}")
    return factory  # type: ignore[no-any-return]


def _check_at(
    at: str, isolation: Isolation, kill: Kill, when: Sequence[str] | None, ignore: Sequence[str]
) -> None:
    """Raises `UsageRefused` for what does not go with `at`."""
    if at not in (AT_EFFECTS, AT_CALLS):
        raise UsageRefused(reason=f"at {at!r} is none of {AT_EFFECTS}, {AT_CALLS}")
    if at == AT_EFFECTS:
        if ignore:
            raise UsageRefused(reason=f"ignore is for final files, compared at {AT_CALLS!r} only")
        return
    for wrong, why in (
        (isolation != "process", f"takes isolation 'process' only, and is {isolation!r}"),
        (kill is not Kill.SIGKILL, f"takes kill 'sigkill' only, and is {str(kill)!r}"),
        (when is not None, "takes no when: each call is before the next one and after the last"),
    ):
        if wrong:
            raise UsageRefused(reason=f"at {AT_CALLS!r} {why}")


def _listed(inputs: Any) -> tuple[Any, ...]:
    """Each life is fed all inputs, so an iterator is read once, here."""
    try:
        return tuple(inputs)
    except TypeError as error:
        kind = type(inputs).__name__
        raise UsageRefused(reason=f"inputs is not iterable: {kind}") from error


def _checked_run_id(run_id: Any) -> str:
    if not isinstance(run_id, str) or not run_id:
        raise UsageRefused(reason=f"run_id must be a text that is not empty, not {run_id!r}")
    return run_id


def _boundaries(when: Sequence[str] | None, isolation: Isolation) -> tuple[str, ...]:
    if when is None:
        when = INLINE_SIDES if isolation == "inline" else SIDES
    sides = (when,) if isinstance(when, str) else tuple(when)
    unknown = [side for side in sides if side not in SIDES]
    if not sides or unknown:
        found = f"{unknown[0]!r}" if unknown else "empty"
        raise UsageRefused(reason=f"when names the sides {', '.join(SIDES)}, and is {found}")
    return tuple(f"effect:{side}" for side in SIDES if side in sides)

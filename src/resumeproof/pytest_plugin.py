"""The pytest plugin: the `conform` fixture, and options that reach every proof of a run.

    def test_it_survives(conform):
        conform(make_agent, inputs=["job-1", "job-2"])

What it needs is imported when a proof is asked for: every test run loads this module.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from resumeproof.domain.conformance import ConformanceReport

_ISOLATION = "resumeproof_isolation"
_TIMEOUT_SECONDS = "resumeproof_timeout_seconds"
_JOBS = "resumeproof_jobs"
_REPORT = "resumeproof_report"
_PLAN = "resumeproof_plan"
_KEEP = "resumeproof_keep"
_ISOLATION_VARIABLE = "RESUMEPROOF_ISOLATION"
_SHRINK_SECONDS = 20.0  # a test's own time limit goes on meanwhile
_NAME_LIMIT = 100  # characters of a file's name
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("resumeproof", "crash proofs")
    group.addoption(
        "--resumeproof-isolation",
        metavar="HOW",
        help="process (really kill), spawn (in fresh interpreters) or inline (play the deaths)",
    )
    group.addoption(
        "--resumeproof-report",
        metavar="DIR",
        help="write each proof's report and receipt file below DIR, by test",
    )
    group.addoption(
        "--resumeproof-plan",
        metavar="PLAN",
        help="carry out this crash plan alone, such as 'effect:after#2'",
    )
    group.addoption(
        "--resumeproof-keep",
        metavar="DIR",
        help="with a plan: keep in DIR what each of its lives left",
    )
    parser.addini(_ISOLATION, "process, spawn or inline; the environment and the option win")
    parser.addini(_TIMEOUT_SECONDS, "seconds that one life may take, unless the test says")
    parser.addini(_JOBS, "workers of one proof, unless the test says (default: one for each core)")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the isolation of this run, for tests that import `conform` as well."""
    option = config.getoption(_ISOLATION)
    named = option or os.environ.get(_ISOLATION_VARIABLE) or config.getini(_ISOLATION)
    _number(config, _TIMEOUT_SECONDS, float)
    _number(config, _JOBS, int)
    if config.getoption(_KEEP) and not config.getoption(_PLAN):
        raise pytest.UsageError("--resumeproof-keep is for one plan: name it by --resumeproof-plan")
    if not named:
        return
    from resumeproof.errors import UsageRefused
    from resumeproof.proof.conform import chosen_isolation

    try:
        chosen_isolation(named)
    except UsageRefused as error:
        raise pytest.UsageError(f"resumeproof: {error}") from error
    patch = pytest.MonkeyPatch()
    patch.setenv(_ISOLATION_VARIABLE, named)
    config.add_cleanup(patch.undo)


def pytest_report_header(config: pytest.Config) -> str:
    default = "process" if hasattr(os, "fork") else "inline"
    return f"resumeproof: isolation {os.environ.get(_ISOLATION_VARIABLE) or default}"


class Conform:
    """What the `conform` fixture is: `conform()` with this run's options, which asserts."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._config = request.config
        self._test = request.node.nodeid
        self._proofs = 0

    def __repr__(self) -> str:
        return f"<conform of {self._test}>"

    def __call__(
        self, factory: Any, inputs: Iterable[Any], run_id: str = "run", **options: Any
    ) -> ConformanceReport:
        """Prove as `resumeproof.conform` does, and return the report.

        Raises `AssertionError` with the report as its text, unless it passed; and what `conform`
        raises. Warns where nothing was proved.
        """
        __tracebackhide__ = True
        from resumeproof.errors import ResumeproofError
        from resumeproof.proof.conform import conform

        options = {**self._options(), **options}
        try:
            report = conform(factory, inputs, run_id, **options)
        except ResumeproofError as error:
            # Its message says where the agent failed; where we were says nothing.
            raise error.with_traceback(None) from None
        if report.terms is not None and options.get("plan") is None:
            from resumeproof.proof.shrink import shrunk

            shrunk(
                report,
                report.terms.inputs,
                lambda fewer: conform(factory, fewer, run_id, **options),
                budget_seconds=_SHRINK_SECONDS,
            )
        words = ["pytest", self._test, "--resumeproof-plan"]
        report.replay = f"{shlex.join(words)} '{{plan}}'"
        self._proofs += 1
        self._write(report)
        if not report.passed:
            raise AssertionError(str(report))
        if report.nothing_proved:
            warnings.warn(pytest.PytestWarning(report.headline), stacklevel=2)
        return report

    def _options(self) -> dict[str, Any]:
        config = self._config
        options = {
            "timeout_seconds": _number(config, _TIMEOUT_SECONDS, float),
            "jobs": _number(config, _JOBS, int) or _cores_of_this_worker(config),
            "plan": config.getoption(_PLAN),
            "keep": config.getoption(_KEEP),
        }
        return {name: value for name, value in options.items() if value is not None}

    def _write(self, report: ConformanceReport) -> None:
        directory = self._config.getoption(_REPORT)
        if directory is None or report.terms is None:
            return
        from resumeproof.evidence.proof_receipt import CONFORM, write_proofs

        place = self._config.invocation_params.dir / directory / _place_of(self._test)
        if self._proofs > 1:
            place = place.with_name(f"{place.name}-{self._proofs}")
        place.mkdir(parents=True, exist_ok=True)
        write_proofs(place, CONFORM, [(report.terms, report)])


@pytest.fixture
def conform(request: pytest.FixtureRequest) -> Conform:
    """Kill an agent at each of its effects, resume it, and fail where that was not safe."""
    return Conform(request)


def _place_of(test: str) -> Path:
    """Where a test's reports lie: `folder/file.py/Class/test`, in names that any system takes.

    Tests are told apart by a digest where such a name does not.
    """
    path, *names = test.split("::", 1)
    parts = [*path.split("/"), *"".join(names).split("::")]
    plain = [_NOT_IN_NAMES.sub("-", part)[:_NAME_LIMIT].strip(".") for part in parts]
    if plain != parts:
        digest = hashlib.blake2b(test.encode(), digest_size=4).hexdigest()
        plain[-1] = f"{plain[-1].rstrip('-')}-{digest}"
    return Path(*plain)


def _number(config: pytest.Config, name: str, kind: type[int] | type[float]) -> Any:
    text = config.getini(name)
    if not text:
        return None
    try:
        return kind(text)
    except ValueError as error:
        raise pytest.UsageError(f"{name} is no number: {text!r}") from error


def _cores_of_this_worker(config: pytest.Config) -> int | None:
    """Under xdist the cores are shared among its workers; None where there are none."""
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return None
    return max(1, (os.cpu_count() or 1) // int(worker["workercount"]))

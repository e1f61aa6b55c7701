"""The `conform` fixture hands `at` and `ignore` on."""

from __future__ import annotations

import pytest

from tests.conformance.test_plugin import AGENT, run
from tests.crash.syscalls.programs import needs_strace

pytest_plugins = ["pytester"]
pytestmark = needs_strace

IN_PLACE = f"""{AGENT}
def test_it(conform):
    conform(Agent, ['a'], at='calls', ignore=['*.log'])
"""
FOUND = (
    "*[[]resume_crashed] crash after call #*: json.decoder.JSONDecodeError: *; "
    "it dies between call *, openat, to done.json, and call *, write, to done.json; "
    "confirmed: a life was killed there, and left the same"
)


def test_the_fixture_proves_at_calls(pytester: pytest.Pytester) -> None:
    result = run(pytester, IN_PLACE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*conformance: FAIL, * durable call(s) crashed at, 1 finding(s)",
            FOUND,
            "*replay: pytest test_it.py::test_it --resumeproof-plan 'call:after#*'",
        ]
    )

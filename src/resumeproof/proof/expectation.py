"""What a contract's tests say, without a test framework: what is expected, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

from resumeproof.errors import ResumeproofError


def expect(found: object, told: object) -> None:
    """Raise `AssertionError` where the two differ; no option of Python's turns it off."""
    if found != told:
        raise AssertionError(f"{found!r} is found, and not {told!r}")


def refusal(call: Callable[[], object]) -> ResumeproofError:
    """The error that `call` raises."""
    try:
        call()
    except ResumeproofError as error:
        return error
    raise AssertionError("it was not refused")

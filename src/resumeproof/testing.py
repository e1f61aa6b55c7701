"""What other people's tests take from this package.

`faulty`: any object, made to die or to fail at its k-th call. `CountedCalls` counts several as one.
`JournalContract` and `AtomicJournalContract`: what every journal must do, as mixins of tests.

Names are handed on lazily (PEP 562): a process that is started to be killed pays for no other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resumeproof.crash.calls import CountedCalls
    from resumeproof.crash.faulty import faulty
    from resumeproof.proof.journal_contract import AtomicJournalContract, JournalContract

__all__ = ["AtomicJournalContract", "CountedCalls", "JournalContract", "faulty"]

_HOMES = {
    "AtomicJournalContract": "resumeproof.proof.journal_contract",
    "CountedCalls": "resumeproof.crash.calls",
    "JournalContract": "resumeproof.proof.journal_contract",
    "faulty": "resumeproof.crash.faulty",
}


def __getattr__(name: str) -> Any:
    """Import the module that is a public name's home, and return what it calls by that name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

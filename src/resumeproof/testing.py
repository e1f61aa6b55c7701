"""What other people's tests take from this package.

`faulty`: any object, made to die or to fail at its k-th call. `CountedCalls` counts several as one.
`prove_store`: a runtime of somebody else's, killed at every call of its store; `StoreSeen` is what
one reads there.
`JournalContract` and `AtomicJournalContract`: what every journal must do, as mixins of tests.

Names are handed on lazily (PEP 562): a process that is started to be killed pays for no other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resumeproof.crash.calls import CountedCalls
    from resumeproof.crash.faulty import faulty
    from resumeproof.proof.harness import prove_store
    from resumeproof.proof.journal_contract import AtomicJournalContract, JournalContract
    from resumeproof.proof.store_subject import StoreSeen

__all__ = [
    "AtomicJournalContract",
    "CountedCalls",
    "JournalContract",
    "StoreSeen",
    "faulty",
    "prove_store",
]

_HOMES = {
    "AtomicJournalContract": "resumeproof.proof.journal_contract",
    "CountedCalls": "resumeproof.crash.calls",
    "JournalContract": "resumeproof.proof.journal_contract",
    "StoreSeen": "resumeproof.proof.store_subject",
    "faulty": "resumeproof.crash.faulty",
    "prove_store": "resumeproof.proof.harness",
}


def __getattr__(name: str) -> Any:
    """Import the module that is a public name's home, and return what it calls by that name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

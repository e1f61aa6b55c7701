"""What other people's tests take from this package.

`JournalContract` and `AtomicJournalContract`: what every journal must do, as mixins of tests.
"""

from __future__ import annotations

from resumeproof.proof.journal_contract import AtomicJournalContract, JournalContract

__all__ = ["AtomicJournalContract", "JournalContract"]

"""Subjects whose verdict is known: correct ones, and broken ones with one bug each.

`resumeproof selftest` proves them all, and so shows what the proof itself is worth.
"""

from __future__ import annotations

from resumeproof.lab.catalogue import (
    acting,
    doubting,
    driving,
    leaving,
    resuming,
    saving,
    surviving,
    writing,
)

BROKEN = (
    *saving.ENTRIES,
    *acting.ENTRIES,
    *resuming.ENTRIES,
    *leaving.ENTRIES,
    *doubting.BROKEN,
    *writing.BROKEN,
    *driving.BROKEN,
)
CORRECT = (*surviving.ENTRIES, *doubting.CORRECT, *writing.CORRECT, *driving.CORRECT)
ENTRIES = (*BROKEN, *CORRECT)

"""Imported by a child that has this directory on its path: its tool forgets every key."""

from __future__ import annotations

import sys

if "resumeproof.lab.life" in sys.orig_argv:
    from resumeproof.stores.sqlite_ledger import SqliteLedger

    SqliteLedger._replayed = lambda *_: None  # type: ignore[method-assign]

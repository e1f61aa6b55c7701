"""Imported by a child that has this directory on its path: it ends before it has begun."""

from __future__ import annotations

import os
import sys

if "resumeproof.lab.life" in sys.orig_argv:
    print("no life today", file=sys.stderr, flush=True)
    os._exit(1)

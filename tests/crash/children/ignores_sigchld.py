"""Runs a life where the kernel keeps no wait status, and prints what came of it."""

from __future__ import annotations

import signal
import sys

from resumeproof.crash.process import run_life
from resumeproof.errors import UsageRefused

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
try:
    print(run_life([sys.executable, "-c", "raise SystemExit(3)"], timeout_seconds=60).exit)
except UsageRefused as refused:
    print(f"refused: {refused}")

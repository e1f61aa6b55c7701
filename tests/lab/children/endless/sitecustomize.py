"""Imported by a child that has this directory on its path: it says who it is, and never ends."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

if "resumeproof.lab.life" in sys.orig_argv:
    Path(os.environ["TOLD"]).write_text(f"{os.getpid()}\n")
    while True:
        signal.pause()

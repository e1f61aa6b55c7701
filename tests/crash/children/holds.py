"""Ignores what can be ignored, writes its witness and stands still until it is killed."""

from __future__ import annotations

import contextlib
import signal

from resumeproof.crash.kill import hold_until_killed
from resumeproof.crash.witness import write_witness

for number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
write_witness("tool:after", 1)
try:
    hold_until_killed()
finally:
    print("finally ran", flush=True)

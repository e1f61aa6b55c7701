"""Starts a daemon properly, has it end first, and prints its pid: only a zombie is left of it."""

from __future__ import annotations

import os

listen, report = os.pipe()
gate, open_gate = os.pipe()
if (middle := os.fork()) == 0:
    os.close(open_gate)
    os.setsid()
    if os.fork() == 0:
        os.write(report, b"%d\n" % os.getpid())
        os.read(gate, 1)
    os._exit(0)
os.waitpid(middle, 0)
os.close(report)
os.close(open_gate)
with open(listen, encoding="ascii") as reports:
    print(reports.read(), end="")  # to its end, which is the daemon's end

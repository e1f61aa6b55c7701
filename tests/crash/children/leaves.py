"""Leaves a grandchild behind, which never ends, and prints its pid. argv is HOW THEN.

HOW: `group` stays in the group and holds the pipes; `session` leaves group and session, and holds
the pipes; `daemon` is forked twice, leaves group and session and closes all it has inherited;
`stranger` is a `session` with a cleared environment.
THEN: `exits` with status 0, or `holds` after its witness.
"""

from __future__ import annotations

import os
import sys

from resumeproof.crash.kill import hold_until_killed
from resumeproof.crash.witness import write_witness

STRANGER = """
import os, sys
os.write(int(sys.argv[1]), b"%d\\n" % os.getpid())
os.read(os.pipe()[0], 1)
"""


def grandchild(how: str, report: int) -> None:
    if how == "daemon" and os.fork():
        os._exit(0)
    if how != "group":
        os.setsid()
    if how == "daemon" and os.fork():
        os._exit(0)
    if how == "stranger":
        os.set_inheritable(report, True)
        os.execve(sys.executable, [sys.executable, "-c", STRANGER, str(report)], {})
    os.write(report, b"%d\n" % os.getpid())
    if how == "daemon":
        os.closerange(0, 256)
    os.read(os.pipe()[0], 1)


how, then = sys.argv[1:]
listen, report = os.pipe()
if os.fork() == 0:
    os.close(listen)
    grandchild(how, report)
print(os.read(listen, 64).decode(), end="", flush=True)
if then == "holds":
    write_witness("tool:after", 1)
    hold_until_killed()

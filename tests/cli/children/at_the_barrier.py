"""Runs commands in processes that all begin at one moment.

`READY` and `GO` are inherited descriptors: a byte says that one process stands ready, and the end
of the pipe is the starting signal. What number N printed lies in `PLACE` as `N.out` and `N.err`;
their exit statuses are printed as one array.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from resumeproof.cli import main
from resumeproof.cli.decision import approve
from resumeproof.cli.resume import resume
from resumeproof.runtime import session

WARM = (approve, resume, session)

ready, go, place, commands = sys.argv[1:]
crowd = []
for number, words in enumerate(json.loads(commands)):
    child = os.fork()
    if child == 0:
        for descriptor, stream in ((1, "out"), (2, "err")):
            printed = os.open(Path(place, f"{number}.{stream}"), os.O_WRONLY | os.O_CREAT)
            os.dup2(printed, descriptor)
            os.close(printed)
        os.write(int(ready), b".")
        os.close(int(ready))
        os.read(int(go), 1)
        main(words, prog_name="resumeproof")
    crowd.append(child)
os.close(int(ready))
statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in crowd]
print(json.dumps(statuses))

"""Runs one command at the moment at which all others do.

`READY` and `GO` are inherited descriptors: a byte says that this process has imported all it
needs, and the end of the pipe is the starting signal.
"""

from __future__ import annotations

import os
import sys

from resumeproof.cli import main
from resumeproof.cli.decision import approve
from resumeproof.cli.resume import resume
from resumeproof.runtime import session

WARM = (approve, resume, session)

ready, go, *words = sys.argv[1:]
os.write(int(ready), b".")
os.close(int(ready))
os.read(int(go), 1)
main(words, prog_name="resumeproof")

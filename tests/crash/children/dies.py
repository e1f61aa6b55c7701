"""Dies at a crash point: argv is KILL BOUNDARY ORDINAL. Whatever it prints must be lost."""

from __future__ import annotations

import atexit
import os
import sys

from resumeproof.crash.kill import Kill, die
from resumeproof.crash.witness import write_witness

kill, boundary, ordinal = sys.argv[1:]
sys.stdout = os.fdopen(1, "w")  # buffered, whatever PYTHONUNBUFFERED says
atexit.register(print, "atexit ran")
print("buffered")
try:
    write_witness(boundary, int(ordinal))
    die(Kill(kill))
except BaseException:
    print("an except caught the death")
finally:
    print("finally ran")

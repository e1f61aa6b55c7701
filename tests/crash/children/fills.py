"""A life whose disk is full once its tool has answered: `SPECIFICATION HOW`.

`disk`: a file beside the journal takes all that is left of the file system. `file`: the kernel lets
none of this process's files grow beyond the journal's log (setrlimit(2), RLIMIT_FSIZE).
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from pathlib import Path

from resumeproof.crash.plan import CrashPoint
from resumeproof.errors import ResumeproofError
from resumeproof.lab.life import LifeSpecification, trapped
from resumeproof.runtime.session import resume

specification = LifeSpecification.from_json(sys.argv[1])
journal = Path(specification.journal)


def fill_disk() -> None:
    descriptor = os.open(journal.with_name("ballast"), os.O_CREAT | os.O_WRONLY)
    for size in (4096, 1):
        with contextlib.suppress(OSError):
            while os.write(descriptor, b"\1" * size):
                pass
    os.close(descriptor)


def limit_files() -> None:
    size = journal.with_name(f"{journal.name}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


fill = {"disk": fill_disk, "file": limit_files}[sys.argv[2]]
try:
    resume(specification.site(), specification.workflow_id, trapped(CrashPoint("tool:after"), fill))
except ResumeproofError as error:
    print(error.code)
    sys.exit(int(error.exit))

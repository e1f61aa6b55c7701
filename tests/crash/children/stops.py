"""A life that stops at its crash point, as on a stalled machine, and goes on when continued."""

from __future__ import annotations

import json
import os
import signal
import sys

from resumeproof.crash.plan import CrashPoint
from resumeproof.errors import ResumeproofError
from resumeproof.lab.life import LifeSpecification, trapped
from resumeproof.runtime.session import resume

specification = LifeSpecification.from_json(sys.argv[1])
point = CrashPoint.parse(str(specification.crash_point))
try:
    resume(
        specification.site(),
        specification.workflow_id,
        trapped(point, lambda: os.kill(os.getpid(), signal.SIGSTOP)),
    )
except ResumeproofError as error:
    print(json.dumps({"error": error.code}))
    sys.exit(int(error.exit))

"""Print one proof's report: `python -m tests.conformance.print_report AGENT JOBS`."""

from __future__ import annotations

import sys

from resumeproof import conform
from tests.conformance import agents

if __name__ == "__main__":
    name, jobs = sys.argv[1:]
    agent = getattr(agents, name)
    print(conform(agent, ["a", "b"], isolation="process", jobs=int(jobs), depth=2))

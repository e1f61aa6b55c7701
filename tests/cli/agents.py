"""Agents that people might bring, as files in a directory, and what their proofs come to."""

from __future__ import annotations

import json
from pathlib import Path

AGENT = """
import json

class Broken:
    def __init__(self, ctx):
        self.ctx = ctx
        self.file = ctx.directory / "done.json"
        self.done = json.loads(self.file.read_text()) if self.file.exists() else []

    def step(self, job):
        if job not in self.done:
            self.charge(job)
            self.done.append(job)
            self.file.write_text(json.dumps(self.done))

    def charge(self, job):
        self.ctx.effect("charge", job, key=f"charge:{job}")

    def state(self):
        return self.done

class Mended(Broken):
    def charge(self, job):
        if self.ctx.lookup(f"charge:{job}") is None:
            super().charge(job)

class Idle(Broken):
    def charge(self, job):
        pass

class Failing(Broken):
    def charge(self, job):
        raise RuntimeError("out of paper")

class Chatty(Mended):
    def charge(self, job):
        print("charging", job)
        super().charge(job)

class Factories:
    @staticmethod
    def mended(ctx):
        return Mended(ctx)

number = 1
"""

HANGING = '''
import json, os, subprocess, sys, time
from agent import Broken

class Hanging(Broken):
    """Comes to its third job after a death only once somebody reads the pipe; then never ends."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self.resumed = bool(self.done)

    def step(self, job):
        if self.resumed and job == "three":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            with open(PIPE, "w") as pipe:
                json.dump([os.getpid(), child.pid], pipe)
            time.sleep(600)
        super().step(job)
'''


def lay_out(directory: Path) -> None:
    """Write `agent.py` and `jobs.json`, which holds two jobs."""
    (directory / "agent.py").write_text(AGENT)
    (directory / "jobs.json").write_text(json.dumps(["one", "two"]))


def lay_out_hanging(directory: Path, pipe: Path) -> None:
    """Write `hanging.py` beside `agent.py`; its life tells its pid and its child's on `pipe`."""
    (directory / "hanging.py").write_text(HANGING.replace("PIPE", repr(str(pipe))))

"""How this command line was called, for those whom it tells to call it again."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


def this_command() -> str:
    """How to call this command from any directory, as one word or more of a shell."""
    called = Path(sys.argv[0])
    if called.stem != "resumeproof":
        return f"{shlex.quote(sys.executable)} -m resumeproof"
    on_path = shutil.which("resumeproof")
    if on_path is not None and Path(on_path).resolve() == called.resolve():
        return "resumeproof"
    return shlex.quote(str(called.absolute()))


def for_a_session() -> tuple[list[str], str]:
    """Steps for a shell, and how to call this command from any directory once they are taken."""
    command = this_command()
    directory = Path(sys.argv[0]).absolute().parent
    if os.name == "nt" or command != shlex.quote(str(directory / "resumeproof")):
        return [], command
    return [f"PATH={shlex.quote(str(directory))}:$PATH"], "resumeproof"

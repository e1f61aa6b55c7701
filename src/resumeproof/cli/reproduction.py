"""A folder that shows one failure by itself: what a crash left, what is run on it, what is wrong.

README.md      what was expected and observed, with which versions
reproduce.sh   lays out a copy, resumes and checks it; exits 1 where it fails as it did
crashed/       the directory as the crash left it
printed.txt    what CMD had printed by then
expected/      the directory after a run without a crash
program/       the files that the commands name, as far as nobody else has them
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from resumeproof.cli.exploration import Found
from resumeproof.domain.printable import shown
from resumeproof.evidence.receipt import environment
from resumeproof.proof.commands.command import DIRECTORY_WORD, Command, Function, Program
from resumeproof.proof.commands.discoveries import Discovery

CRASHED: Final = "crashed"
EXPECTED: Final = "expected"
PRINTED: Final = "printed.txt"
PROGRAM: Final = "program"
SCRIPT: Final = "reproduce.sh"
README: Final = "README.md"
CALL: Final = "call.py"
INSTALLED: Final = frozenset({"bin", "sbin"})
"""What directories of installed programs are called."""

_CALL_TEXT: Final = '''\
"""Call FILE.py:function with the directory and with what was printed; exit 1 if it objects."""
import importlib.util, os, pathlib, sys

file, _, name = sys.argv[1].rpartition(":")
spec = importlib.util.spec_from_file_location("called", file)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
printed = pathlib.Path(os.environ["RESUMEPROOF_OUTPUT"]).read_text(errors="replace")
try:
    said = getattr(module, name)(pathlib.Path(os.environ["RESUMEPROOF_DIRECTORY"]), printed)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
if said is False or isinstance(said, str) and said:
    sys.exit(said or "it returned False")
'''

_SCRIPT_TEXT: Final = """\
#!/bin/sh
# Lay out what the crash left, resume it, and see whether all promises hold. Exits 1 if not.
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
dir=$scratch/directory
cp -R "$here/{crashed}" "$dir"
RESUMEPROOF_DIRECTORY=$dir
RESUMEPROOF_OUTPUT=$here/{printed}
export RESUMEPROOF_DIRECTORY RESUMEPROOF_OUTPUT
cd "$dir" || exit 2
{steps}
"""


@dataclass(frozen=True)
class Reproduction:
    """One failure of an exploration, written into an empty directory."""

    found: Found
    discovery: Discovery
    replay: str
    directory: Path

    def write(self) -> None:
        """Write the folder."""
        explored = self.found.explored
        image = self.discovery.image
        image.tree.write_to(self.directory / CRASHED)
        (self.directory / PRINTED).write_bytes(image.printed)
        explored.baseline.recorded.end.write_to(self.directory / EXPECTED)
        steps = "\n".join(self._steps())
        script = self.directory / SCRIPT
        script.write_text(_SCRIPT_TEXT.format(crashed=CRASHED, printed=PRINTED, steps=steps))
        script.chmod(0o755)
        (self.directory / README).write_text("\n".join(self._told()) + "\n", encoding="utf-8")

    def _steps(self) -> Iterator[str]:
        settings = self.found.settings
        if settings.resume is not None:
            yield f"{self._line(settings.resume)}\nstatus=$?"
            if settings.check is None:
                yield 'if [ "$status" != 0 ]; then echo "the resume: exit $status"; exit 1; fi'
        if settings.compares:
            yield f'diff -r "$here/{EXPECTED}" "$dir" || exit 1'
        if settings.check is not None:
            yield f"{self._line(settings.check)} || exit 1"
        yield 'echo "nothing is wrong"'

    def _line(self, command: Command) -> str:
        if isinstance(command, Function):
            file, _, name = command.text.rpartition(":")
            (self.directory / CALL).write_text(_CALL_TEXT)
            return f'python3 "$here/{CALL}" {self._taken_along(Path(file))}:{name}'
        assert isinstance(command, Program)
        return " ".join(self._word(word, place) for place, word in enumerate(command.given))

    def _word(self, word: str, place: int) -> str:
        """A word for the script. A program that is installed stays where it is."""
        path = Path(word)
        installed = place == 0 and path.parent.name in INSTALLED
        if path.is_absolute() and path.is_file() and not installed:
            return self._taken_along(path)
        return shlex.quote(word).replace(DIRECTORY_WORD, "'\"$dir\"'")

    def _taken_along(self, path: Path) -> str:
        place = self.directory / PROGRAM
        place.mkdir(exist_ok=True)
        shutil.copy(path, place / path.name)
        return f'"$here/{PROGRAM}/"{shlex.quote(path.name)}'

    def _told(self) -> Iterator[str]:
        settings, discovery = self.found.settings, self.discovery
        how = "a power cut" if discovery.state.power else "a kill"
        resume = "nothing" if settings.resume is None else settings.resume.text
        yield "# What a crash left\n"
        yield f"    {shown(settings.command.text)}\n"
        yield f"met with {how} (plan `{discovery.state.plan}`), {discovery.state.after} durable"
        yield "calls after its start."
        yield f"What was run then: `{shown(resume)}`.\n"
        yield "Expected: " + (
            f"`{shown(settings.check.text)}` does not object."
            if settings.check is not None
            else "the resume exits with 0, and the files are as in `expected/`."
        )
        yield f"\nObserved: {shown(discovery.violation.detail)} (`{discovery.kind}`)\n"
        for line in discovery.explanation:
            yield f"- {shown(line)}"
        yield f"\n`sh {SCRIPT}` shows it again, and this carries it out from the start:\n"
        yield f"    {self.replay}\n"
        versions = ", ".join(f"{name} {value}" for name, value in environment().items())
        yield f"Versions: {versions}."

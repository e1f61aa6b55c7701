"""The environment of the scripts: made once, made anew when it must be, or refused in one line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"

# Makes no environment and installs nothing, but tells that it was asked to.
PYTHON = """#!/bin/sh
case "$*" in
*"-m venv"*) echo venv >>"{log}"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python" ;;
*"-m pip"*) echo pip >>"{log}"; [ ! -e "{no_network}" ] ;;
*) exec "{python}" "$@" ;;
esac
"""


class Repository:
    """A directory with the real `scripts/environment`, and a `python3` that keeps a log."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pyproject = root / "pyproject.toml"
        self.no_network = root / "no-network"
        self.log = root / "log"
        self.python = root / "path" / "python3"
        self.pyproject.write_text("one")
        self.python.parent.mkdir()
        for tool in ("sh", "cat", "cp", "mkdir"):
            found = shutil.which(tool)
            assert found is not None
            (self.python.parent / tool).symlink_to(found)
        self.write_python(
            PYTHON.format(log=self.log, no_network=self.no_network, python=sys.executable)
        )

    def write_python(self, text: str) -> None:
        self.python.write_text(text)
        self.python.chmod(0o755)

    def ready(self) -> subprocess.CompletedProcess[str]:
        script = '. "$1"; ready_environment "$root/.venv" "[dev]"; echo "$bin"'
        return subprocess.run(
            ["sh", "-eu", "-c", f"root=$2; {script}", "sh", SCRIPTS / "environment", self.root],
            env={"PATH": str(self.python.parent)},
            capture_output=True,
            text=True,
        )

    def asked(self) -> str:
        return " ".join(self.log.read_text().split())


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_an_environment_is_made_once(repository: Repository) -> None:
    statuses = [repository.ready().returncode for _ in range(3)]
    assert (statuses, repository.asked()) == ([0, 0, 0], "venv pip")


def test_a_changed_pyproject_makes_it_anew(repository: Repository) -> None:
    repository.ready()
    repository.pyproject.write_text("two")
    assert repository.ready().stdout == f"{repository.root}/.venv/bin\n"
    assert repository.asked() == "venv pip venv pip"


def test_an_environment_that_was_not_finished_is_made_anew(repository: Repository) -> None:
    repository.no_network.touch()
    assert repository.ready().returncode == 1
    repository.no_network.unlink()
    assert repository.ready().returncode == 0
    assert repository.asked() == "venv pip venv pip"


UNFIT = {
    "too old": ("exit 1", "resumeproof needs Python 3.11 or newer, and no python3"),
    "no ensurepip": (
        'case "$2" in *version_info*) exit 0 ;; *) exit 1 ;; esac',
        "python3 lacks the modules venv and ensurepip",
    ),
}


@pytest.mark.parametrize(("body", "reason"), UNFIT.values(), ids=UNFIT)
def test_an_unfit_python_is_refused_in_one_line(
    body: str, reason: str, repository: Repository
) -> None:
    repository.write_python(f"#!/bin/sh\n{body}\n")
    ran = repository.ready()
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith(reason)


# -- what the tests use of the system --------------------------------------------------------


def ready_system(place: Path, *commands: str, user: str) -> str:
    """Ask for commands where `apt-get` only tells what it was asked; return what was said."""
    (place / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (place / "apt-get").write_text("#!/bin/sh\necho apt-get $* >&2\n")
    for name in ("id", "apt-get"):
        (place / name).chmod(0o755)
    script = '. "$1"; shift; ready_system "$@"'
    ran = subprocess.run(
        ["/bin/sh", "-eu", "-c", script, "sh", SCRIPTS / "system", *commands],
        env={"PATH": str(place)},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (0, "")
    return ran.stderr


def test_what_is_missing_of_the_system_is_installed(tmp_path: Path) -> None:
    assert ready_system(tmp_path, "id", "wanted", user="0").splitlines() == [
        "installing: wanted",
        "apt-get update -qq",
        "apt-get install -qq --no-install-recommends wanted",
    ]


def test_nothing_is_installed_for_whom_it_may_not_be(tmp_path: Path) -> None:
    told = "not installed: wanted; the tests that need them are skipped\n"
    assert ready_system(tmp_path, "wanted", user="1000") == told


def test_nothing_is_said_where_nothing_is_missing(tmp_path: Path) -> None:
    assert ready_system(tmp_path, "id", user="0") == ""

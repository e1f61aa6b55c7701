"""`explore`, on small programs in real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.desk import ROOT, Desk

EXAMPLES = ROOT / "examples" / "explore"
CHECK = f"{EXAMPLES / 'state_check.py'}:check"
PYTHON = sys.executable
IN_PLACE = (PYTHON, str(EXAMPLES / "in_place.py"))
REPLACED = (PYTHON, str(EXAMPLES / "replaced.py"))

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace looks on")


def script(desk: Desk, text: str) -> tuple[str, str]:
    """A Python program of its own, and how it is called."""
    path = desk.path / "program.py"
    path.write_text(text)
    return PYTHON, str(path)


def explored(desk: Desk, *words: str) -> tuple[int, dict[str, Any]]:
    ran = desk.call("explore", *words)
    assert ran.stderr == "", ran
    return ran.status, ran.document


def test_without_a_check_the_resume_and_the_final_files_are_judged(desk: Desk) -> None:
    program = script(desk, "import os\nos.mkdir('made')\nopen('made/x', 'w').write('1')\n")
    status, told = explored(desk, "--", *program)
    found = {(each["kind"], each["confirmed"]) for each in told["findings"]}
    assert (status, told["kill_safe"], told["power_safe"]) == (1, False, None)
    assert found == {("resume_crashed", True)}
    assert "FileExistsError" in told["findings"][0]["detail"]
    assert [each["plan"] for each in told["findings"]] == ["call:after#1"]


def test_files_that_differ_in_the_end_are_named_unless_ignored(desk: Desk) -> None:
    program = script(desk, "with open('log', 'a') as log:\n    log.write('x')\n")
    status, told = explored(desk, "--", *program)
    (found,) = told["findings"]
    detail = "log differs from the run without a crash"
    assert (status, found["kind"], found["detail"]) == (1, "resume_diverged", detail)
    status, told = explored(desk, "--ignore", "lo*", "--", *program)
    assert (status, told["kill_safe"]) == (0, True)


def test_databases_are_compared_by_what_they_hold(desk: Desk) -> None:
    program = script(
        desk,
        "import sqlite3\n"
        "with sqlite3.connect('n.sqlite3') as c:\n"
        "    c.execute('PRAGMA journal_mode=WAL')\n"
        "    c.execute('CREATE TABLE IF NOT EXISTS n (n INTEGER PRIMARY KEY)')\n"
        "    c.execute('INSERT OR IGNORE INTO n VALUES (1)')\n"
        "c.close()\n",
    )
    status, told = explored(desk, "--", *program)
    assert (status, told["kill_safe"], told["nondeterminism"]) == (0, True, None)
    assert told["certificate"]["states"] < told["certificate"]["byte_images"]


def test_the_certificate_adds_up(desk: Desk) -> None:
    _, told = explored(desk, "--no-resume", "--check", CHECK, "--power-loss", "--", *IN_PLACE)
    figures = told["certificate"]
    states = figures["enumerated"]
    assert states == figures["fired"] == figures["verified"] == figures["judged"]
    assert figures["states"] <= figures["byte_images"] <= states < figures["boundaries"]
    assert told["power"]["untried"] == 0


def test_a_check_may_be_any_program(desk: Desk) -> None:
    check = f"{PYTHON} -c \"import os; d = os.environ['RESUMEPROOF_DIRECTORY']; "
    check += "assert os.getcwd() == d == '{dir}'; "
    check += "said = open(os.environ['RESUMEPROOF_OUTPUT']).read(); "
    check += "assert os.path.getsize('state.json') if said else True, 'nothing is in it'\""
    status, told = explored(desk, "--no-resume", "--check", check, "--", *IN_PLACE)
    assert (status, told["kill_safe"]) == (1, False)
    assert told["findings"][0]["kind"] == "promise_broken"
    assert told["findings"][0]["detail"] == "AssertionError: nothing is in it"


def test_one_plan_is_tried_alone_and_kept(desk: Desk) -> None:
    given = ("--no-resume", "--check", CHECK, "--plan", "call:after#1", "--keep", "kept")
    status, told = explored(desk, *given, "--", *IN_PLACE)
    assert (status, told["kill_safe"], told["certificate"]["judged"]) == (1, False, 1)
    kept = desk.path / "kept"
    assert (kept / "crashed" / "state.json").read_bytes() == b""
    assert (kept / "verdict.txt").read_text() == "[promise_broken] state.json is empty\n"


def test_a_plan_that_the_program_does_not_come_to_is_refused(desk: Desk) -> None:
    ran = desk.call("explore", "--plan", "call:after#99", "--", *IN_PLACE)
    assert ran.refusal == (2, "plan_refused", 1, True)


def test_the_replay_line_replays(desk: Desk) -> None:
    status, told = explored(desk, "--no-resume", "--check", CHECK, "--power-loss", "--", *REPLACED)
    assert (status, told["kill_safe"], told["power_safe"]) == (1, True, False)
    for found in told["findings"]:
        line = found["replay"].replace("resumeproof explore", "resumeproof explore --format json")
        ran = subprocess.run(line, shell=True, cwd=desk.path, capture_output=True, timeout=60)
        (again,) = json.loads(ran.stdout)["findings"]
        assert (ran.returncode, again["detail"]) == (1, found["detail"])


def test_a_reproduction_shows_the_failure_by_itself(desk: Desk) -> None:
    given = ("--no-resume", "--check", CHECK, "--repro", "repro")
    _, told = explored(desk, *given, "--", *IN_PLACE)
    ran = subprocess.run(
        ["sh", "repro/reproduce.sh"], cwd=desk.path, capture_output=True, text=True, timeout=60
    )
    detail = told["findings"][0]["detail"]
    assert (ran.returncode, detail in ran.stderr) == (1, True), ran
    readme = (desk.path / "repro" / "README.md").read_text()
    assert all(part in readme for part in (detail, "call:after#1", "Versions: ", "sqlite"))


def test_a_reproduction_takes_the_program_along(desk: Desk) -> None:
    """Where the resume itself fails, it is what the folder runs, from wherever it is moved to."""
    program = script(desk, "import os\nos.mkdir('made')\nopen('made/x', 'w').write('1')\n")
    _, told = explored(desk, "--repro", "repro", "--", *program)
    Path(program[1]).unlink()
    moved = (desk.path / "repro").rename(desk.path / "elsewhere")
    ran = subprocess.run(
        [str(moved / "reproduce.sh")], cwd="/", capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (1, "the resume: exit 1\n"), (ran, told)


def test_evidence_is_written_and_verifies(desk: Desk) -> None:
    given = ("--no-resume", "--check", CHECK, "--report", "report", "--junit", "junit.xml")
    explored(desk, *given, "--", *IN_PLACE)
    totals = desk.done("verify", "report")["totals"]
    assert (totals["invalid"], totals["findings"]) == (0, 3)
    receipt = json.loads((desk.path / "report" / "receipt.json").read_text())
    assert receipt["kind"] == "explore"
    assert receipt["proofs"][0]["exploration"]["kill_safe"] is False
    assert 'failures="3"' in (desk.path / "junit.xml").read_text()


def test_a_resume_is_killed_as_well(desk: Desk) -> None:
    """The recovery takes the only copy away before it writes another: it is safe once."""
    program = script(
        desk,
        "import os\n"
        "if os.path.exists('backup'):\n"
        "    with open('backup') as file:\n"
        "        kept = file.read()\n"
        "    os.remove('backup')\n"
        "    with open('data', 'w') as file:\n"
        "        file.write(kept)\n"
        "os.rename('data', 'backup')\n"
        "with open('fresh', 'w') as file:\n"
        "    file.write('new')\n"
        "os.rename('fresh', 'data')\n"
        "os.remove('backup')\n",
    )
    (desk.path / "start").mkdir()
    (desk.path / "start" / "data").write_text("old")
    (desk.path / "data_check.py").write_text(
        "def check(directory, printed):\n    assert (directory / 'data').exists(), 'data is lost'\n"
    )
    given = ("--directory", "start", "--check", "data_check.py:check", "--", *program)
    assert explored(desk, *given)[0] == 0
    status, told = explored(desk, "--depth", "2", *given)
    (found,) = (each for each in told["findings"] if each["detail"] == "data is lost")
    assert (status, found["confirmed"], found["plan"].count(";")) == (1, True, 1), told
    assert explored(desk, "--plan", found["plan"], *given)[0] == 1
    assert [path.name for path in (desk.path / "start").iterdir()] == ["data"]


def test_a_called_resume_is_killed_in_a_process_of_its_own(desk: Desk) -> None:
    program = script(desk, "import os\nos.mkdir('made')\nprint('made', flush=True)\n")
    (desk.path / "called.py").write_text(
        "def resume(directory, printed):\n"
        "    if (directory / 'made').exists():\n"
        "        (directory / 'made').rmdir()\n"
        "        (directory / 'made').mkdir()\n"
        "def check(directory, printed):\n"
        "    return '' if (directory / 'made').exists() or not printed else 'it is gone'\n"
    )
    given = ("--resume", "called.py:resume", "--check", "called.py:check", "--", *program)
    assert explored(desk, *given)[0] == 0
    status, told = explored(desk, "--depth", "2", *given)
    (found,) = told["findings"]
    assert (status, found["detail"], found["confirmed"]) == (1, "it is gone", True), told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise SystemExit(3)", "in its run: exit 3"),
        ("import no_such_module", "ModuleNotFoundError"),
    ],
    ids=["exits", "raises"],
)
def test_a_program_that_fails_by_itself_is_not_explored(desk: Desk, text: str, told: str) -> None:
    ran = desk.call("explore", "--", *script(desk, text))
    assert (ran.refusal, told in ran.stderr) == ((2, "subject_failed", 1, True), True), ran


def test_a_file_that_lies_here_and_not_there_is_pointed_out(desk: Desk) -> None:
    script(desk, "open('x', 'w').close()")
    ran = desk.call("explore", "--", PYTHON, "program.py")
    assert (ran.status, f"write {desk.path / 'program.py'}" in ran.stderr) == (2, True)


def test_a_check_that_objects_to_a_run_without_a_crash_is_refused(desk: Desk) -> None:
    (desk.path / "wrong_check.py").write_text("def check(directory, printed):\n    return 'no'\n")
    ran = desk.call("explore", "--check", "wrong_check.py:check", "--", *IN_PLACE)
    assert (ran.refusal, "in its check" in ran.stderr) == ((2, "subject_failed", 1, True), True)


def test_nothing_is_proved_of_a_program_that_writes_nothing(desk: Desk) -> None:
    status, told = explored(desk, "--", "true")
    assert (status, told["nothing_proved"], told["calls"]) == (2, True, 0)
    assert explored(desk, "--allow-empty", "--", "true")[0] == 0
    status, told = explored(desk, "--resume", "false", "--", "true")
    (found,) = told["findings"]
    reason = (status, found["kind"], found["confirmed"], found["unconfirmed"])
    assert reason == (1, "resume_crashed", False, "it makes no durable call")


def test_what_was_printed_too_early_is_found_and_confirmed(desk: Desk) -> None:
    program = script(
        desk,
        "import os\n"
        "print('saved 1', flush=True)\n"
        "with open('fresh', 'w') as file:\n"
        "    file.write('{\"count\": 1}')\n"
        "os.rename('fresh', 'state.json')\n",
    )
    status, told = explored(desk, "--no-resume", "--check", CHECK, "--", *program)
    (found,) = told["findings"]
    detail = "state.json is missing, and 1 was promised"
    assert (status, found["detail"], found["confirmed"]) == (1, detail, True)
    assert "the program dies" in found["explanation"][0]


def test_what_is_not_looked_at_is_said(desk: Desk) -> None:
    outside = desk.path / "outside"
    program = script(
        desk,
        "import mmap, os, time\n"
        "open('random', 'w').write(os.urandom(8).hex())\n"
        f"open({str(outside)!r}, 'w').close()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
        "os.wait()\n",
    )
    status, told = explored(desk, "--", *program)
    notes = "; ".join(told["not_covered"])
    assert (status, told["nondeterminism"]) == (0, "what they left: random")
    assert str(outside) in notes
    assert "left a process running" in notes


def test_a_shared_mapping_makes_the_run_invalid_and_never_safe(desk: Desk) -> None:
    program = script(
        desk,
        "import mmap\n"
        "with open('x', 'w+b') as file:\n"
        "    file.write(bytes(4096))\n"
        "    file.flush()\n"
        "    with mmap.mmap(file.fileno(), 4096) as mapped:\n"
        "        mapped[:3] = b'abc'\n",
    )
    status, told = explored(desk, "--", *program)
    assert (status, told["kill_safe"], len(told["invalid"]) > 0) == (1, None, True)
    assert any("shared mapping" in note for note in told["not_covered"])


def test_threads_that_write_side_by_side_are_named(desk: Desk) -> None:
    program = script(
        desk,
        "import threading\n"
        "gate = threading.Barrier(2)\n"
        "def write(name):\n"
        "    for number in range(3):\n"
        "        gate.wait()\n"
        "        open(f'{name}{number}', 'w').close()\n"
        "threads = [threading.Thread(target=write, args=(name,)) for name in 'ab']\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n",
    )
    status, told = explored(desk, "--", *program)
    notes = "; ".join(told["not_covered"])
    assert (status, "2 threads or processes" in notes) == (0, True), notes


def test_without_strace_one_line_says_how_to_get_it(desk: Desk) -> None:
    place = desk.path / "bin"
    place.mkdir()
    ran = desk.call("explore", "--", *IN_PLACE, env={"PATH": str(place)})
    assert (ran.refusal, "apt-get install strace" in ran.stderr) == (
        (2, "strace_missing", 1, True),
        True,
    ), ran


@pytest.mark.parametrize(
    "words",
    [
        ("--resume", "true", "--no-resume"),
        ("--no-resume", "--check", "true", "--depth", "2"),
        ("--no-resume",),
        ("--keep", "kept"),
        ("--domain", "journal"),
    ],
    ids=" ".join,
)
def test_options_that_contradict_each_other_are_refused(desk: Desk, words: tuple[str, ...]) -> None:
    ran = desk.call("explore", *words, "--", "true")
    assert ran.refusal == (2, "usage", 1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("--check", "mend.py", "--", *IN_PLACE),
        ("--resume", "mend.py --all", "--", *IN_PLACE),
        ("--", "mend.py"),
        ("./mend.py",),
    ],
    ids=["check", "resume", "program", "path"],
)
def test_a_python_file_is_no_command(desk: Desk, words: tuple[str, ...]) -> None:
    path = desk.path / "mend.py"
    path.write_text("")
    ran = desk.call("explore", *words)
    assert ran.refusal == (2, "usage", 1, True)
    assert f"write python3 {path}, or mend.py:FUNCTION" in ran.stderr


def test_a_resume_that_can_never_run_is_told_of(desk: Desk) -> None:
    """With a check its exit status does not count: nothing else would show that it never ran."""
    (desk.path / "mend.py").write_text("")
    given = ("--check", "true", "--resume")
    ran = desk.call("explore", *given, f"{PYTHON} mend.py", "--", *IN_PLACE)
    assert ran.refusal == (2, "subject_failed", 1, True)
    assert f"write {desk.path / 'mend.py'}" in ran.stderr
    status, told = explored(desk, *given, f"{PYTHON} /no/such.py", "--", *IN_PLACE)
    (note,) = told["not_covered"]
    assert (status, "the resume fails as well" in note, "/no/such.py" in note) == (0, True, True)
    status, told = explored(
        desk, *given, f"{PYTHON} {{dir}}/../no.py", "--plan", "call:after#1", "--", *IN_PLACE
    )
    assert len(told["not_covered"]) == 1


def test_a_resume_that_hangs_is_found_in_time(desk: Desk) -> None:
    program = script(
        desk,
        "import os, time\nif os.path.exists('x'):\n    time.sleep(600)\nopen('x', 'w').close()\n",
    )
    status, told = explored(desk, "--timeout", "1", "--", *program)
    assert (status, {each["kind"] for each in told["findings"]}) == (1, {"resume_hung"})


def test_ctrl_c_leaves_nothing(desk: Desk) -> None:
    told = desk.path / "told"
    program = script(
        desk,
        "import os, time\n"
        "if os.path.exists('x'):\n"
        f"    with open({str(told)!r}, 'w') as out:\n"
        "        out.write(os.getcwd())\n"
        "    time.sleep(600)\n"
        "open('x', 'w').close()\n",
    )
    os.mkfifo(told)
    process = desk.start(
        "explore", "--timeout", "600", "--jobs", "1", "--", *program, stderr=subprocess.PIPE
    )
    place = Path(told.read_text())  # a resume is at work there
    assert place.is_dir()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, b"interrupted" in stderr) == (130, True), stderr
    assert not place.parent.parent.exists()

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from resumeproof.stores.birth import create
from tests.unit.stores.toy import TOY, Child, facts, is_at_rest, seed

LOOPS = 25
WRITERS = 8
WRITE_IN_LOOPS = f"""
say("ready")
hear()
for turn in range({LOOPS}):
    with open_writer(path, TOY) as store, store.transaction():
        store.execute("INSERT INTO fact (text) VALUES (?)", [sys.argv[2] + "-" + str(turn)])
say("done")
"""
READ_IN_LOOPS = """
say("ready")
hear()
seen = 0
for turn in range(100):
    with open_reader(path, TOY) as store:
        count = store.row("SELECT count(*) FROM fact")[0]
        assert count >= seen, (count, seen)
        seen = count
say("done")
"""


def test_eight_processes_that_open_write_and_close_each_have_their_turn(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    with ExitStack() as stack:
        children = [
            stack.enter_context(Child(WRITE_IN_LOOPS, path, str(writer)))
            for writer in range(WRITERS)
        ]
        readers = [stack.enter_context(Child(READ_IN_LOOPS, path)) for _ in range(2)]
        for child in [*children, *readers]:
            child.expect("ready")
        for child in [*children, *readers]:
            child.tell()
        ends = [child.end() for child in [*children, *readers]]
    assert ends == [(0, "done", "")] * (WRITERS + 2)
    written = {f"{writer}-{turn}" for writer in range(WRITERS) for turn in range(LOOPS)}
    assert (set(facts(path)), is_at_rest(path)) == ({"seed"} | written, True)


ROUNDS = 40
CLOSE_TOGETHER = f"""
for _ in range({ROUNDS}):
    store = open_writer(path, TOY)
    say("open")
    hear()
    store.close()
    say("closed")
    hear()
"""


def test_of_those_who_close_at_once_the_last_one_leaves_the_store_at_rest(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    at_rest = []
    with ExitStack() as stack:
        children = [stack.enter_context(Child(CLOSE_TOGETHER, path)) for _ in range(4)]
        for _ in range(ROUNDS):
            for word in ("open", "closed"):
                for child in children:
                    child.expect(word)
                at_rest.append(is_at_rest(path))
                for child in children:
                    child.tell()
    assert at_rest == [False, True] * ROUNDS

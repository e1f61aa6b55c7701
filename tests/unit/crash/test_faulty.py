from __future__ import annotations

import asyncio
import copy
import errno
import inspect
import pickle
import sys
import threading
import types
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from functools import wraps
from typing import Any, Self

import pytest

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.process import run_life, verify_kill
from resumeproof.errors import PlanRefused, UsageRefused
from resumeproof.testing import CountedCalls, faulty


def retried(call: Any) -> Any:
    """A plain function round a coroutine function, as decorators write it."""

    @wraps(call)
    def around(*args: Any) -> Any:
        return call(*args)

    return around


class Transaction:
    def __init__(self, said: list[str]) -> None:
        self.said = said

    def append(self, record: str) -> None:
        self.said.append(record)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.said.append("committed")


class Store:
    def __init__(self) -> None:
        self.said: list[str] = []
        self.inner = Transaction(self.said)
        self._state = ""

    def append(self, record: str) -> str:
        if record == "refused":
            raise ValueError(record)
        self.said.append(record)
        return record.upper()

    def save(self, state: str) -> None:
        self.said.append(f"saved {state}")

    def both(self, record: str) -> None:
        self.append(record)

    def itself(self) -> Self:
        return self

    def begin(self) -> Transaction:
        return Transaction(self.said)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        yield Transaction(self.said)

    @property
    def journal(self) -> Transaction:
        return Transaction(self.said)

    @property
    def state(self) -> str:
        return self._state

    @state.setter
    def state(self, value: str) -> None:
        self._state = value
        self.said.append(f"state {value}")

    def __setitem__(self, name: str, value: str) -> None:
        self.said.append(f"{name}={value}")

    async def flush(self) -> str:
        self.said.append("flushing")
        await asyncio.sleep(0)
        self.said.append("flushed")
        return "done"

    @retried
    async def sync(self) -> None:
        await asyncio.sleep(0)
        self.said.append("synced")

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Transaction]:
        yield Transaction(self.said)


class Log:
    """Notes each boundary among what the store itself says."""

    def __init__(self, said: list[str]) -> None:
        self.said = said

    def __call__(self, boundary: str, number: int) -> None:
        self.said.append(f"{boundary}#{number}")


CALLS = {
    "append": "append",
    "save": "save",
    "flush": "flush",
    "sync": "sync",
    "state": "state",
    "__setitem__": "set",
}


def watched() -> tuple[Store, list[str]]:
    store = Store()
    return faulty(store, CALLS, Log(store.said)), store.said


def around(name: str, *inside: str) -> list[str]:
    return [f"{name}:before#1", *inside, f"{name}:after#1"]


def through_an_exit_stack(store: Store) -> None:
    with ExitStack() as stack:
        stack.enter_context(store.transaction()).append("a")


def through_a_bound_method(store: Store) -> None:
    append = store.append
    append("a")


def with_the_transaction(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.append("a")


def with_what_begins(store: Store) -> None:
    with store.begin() as transaction:
        transaction.append("a")


def by_subscript(store: Store) -> None:
    store["a"] = "b"


def by_assignment(store: Store) -> None:
    store.state = "a"


def by_an_instance_attribute(store: Store) -> None:
    store.inner.append("a")


async def in_a_session(store: Store) -> None:
    async with store.session() as session:
        session.append("a")


A_CALL: dict[str, tuple[Callable[[Store], Any], list[str]]] = {
    "a method": (lambda store: store.append("a"), around("append", "a")),
    "a bound method": (through_a_bound_method, around("append", "a")),
    "what a context manager yields": (with_the_transaction, around("append", "a")),
    "an object that enters itself": (with_what_begins, [*around("append", "a"), "committed"]),
    "an exit stack": (through_an_exit_stack, around("append", "a")),
    "what an attribute holds": (by_an_instance_attribute, around("append", "a")),
    "what a property gives": (lambda store: store.journal.append("a"), around("append", "a")),
    "what a method returns": (lambda store: store.begin().append("a"), around("append", "a")),
    "an object that returns itself": (
        lambda store: store.itself().append("a"),
        around("append", "a"),
    ),
    "a property that is set": (by_assignment, around("state", "state a")),
    "a special method": (by_subscript, around("set", "a=b")),
    "async": (
        lambda store: asyncio.run(store.flush()),
        around("flush", "flushing", "flushed"),
    ),
    "a coroutine from a plain function": (
        lambda store: asyncio.run(store.sync()),
        around("sync", "synced"),
    ),
    "what an async context manager yields": (
        lambda store: asyncio.run(in_a_session(store)),
        around("append", "a"),
    ),
    "not a list that has an append": (lambda store: store.said.append("a"), ["a"]),
    "not what the object calls on itself": (lambda store: store.both("a"), ["a"]),
    "not another call": (lambda store: store.state, []),
}


@pytest.mark.parametrize(("call", "said"), A_CALL.values(), ids=A_CALL)
def test_what_is_counted(call: Callable[[Store], Any], said: list[str]) -> None:
    store, heard = watched()
    call(store)
    assert heard == said


def test_two_wrappers_count_each_their_own() -> None:
    store = Store()
    inner = faulty(store, {"append"}, Log(store.said))
    outer = faulty(inner, {"__exit__": "commit"}, Log(store.said))
    with outer.begin() as transaction:
        transaction.append("a")
    assert store.said == [*around("append", "a"), *around("commit", "committed")]


def test_what_is_wrapped_already_is_not_counted_twice() -> None:
    counted = CountedCalls(lambda boundary, number: None)
    store = Store()
    store.inner = faulty(store.inner, {"append"}, counted)
    faulty(store, {"append"}, counted).inner.append("a")
    assert counted.passed == [("append:before", 1), ("append:after", 1)]


def test_a_call_that_raises_has_come_back() -> None:
    store, said = watched()
    with pytest.raises(ValueError, match=r"^refused$"):
        store.append("refused")
    store.append("a")
    assert said == [*around("append"), "append:before#2", "a", "append:after#2"]


def test_a_coroutine_that_is_cancelled_never_comes_back() -> None:
    store, said = watched()

    async def cancelled() -> None:
        task = asyncio.create_task(store.flush())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    assert said == ["flush:before#1", "flushing"]


def test_threads_of_one_life_are_counted_together() -> None:
    counted = CountedCalls(lambda boundary, number: None)
    stores = [faulty(Store(), {"append"}, counted) for _ in range(2)]
    barrier = threading.Barrier(8)

    def work(store: Store) -> None:
        barrier.wait()
        for _ in range(50):
            store.append("a")

    threads = [threading.Thread(target=work, args=(stores[n % 2],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counted.passed) == sorted(
        (f"append:{side}", number) for side in ("before", "after") for number in range(1, 401)
    )


ERRORS = {
    "before": ("append:before#2", ["a"]),
    "after": ("append:after#2", ["a", "b"]),
}


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize(("plan", "written"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_raised_once_before_or_after_the_call(
    plan: str, written: list[str], error: int
) -> None:
    store = Store()
    wrapped = faulty(store, {"append"}, plan, error=error)
    wrapped.append("a")
    with pytest.raises(OSError) as raised:  # noqa: PT011 - its number is what is asserted
        wrapped.append("b")
    left = list(store.said)
    wrapped.append("c")
    assert (raised.value.errno, left, store.said) == (error, written, [*written, "c"])


DIES = """
import atexit
from resumeproof.testing import faulty

class Store:
    def append(self, record):
        print(record, flush=True)

store = faulty(Store(), calls={"append"}, plan=%r, kill=%r)
atexit.register(print, "atexit ran")
try:
    for record in "ab":
        store.append(record)
finally:
    print("finally ran")
"""


@pytest.mark.crash
@pytest.mark.parametrize("kill", Kill, ids=str)
@pytest.mark.parametrize(
    ("plan", "printed"), [("append:before#2", "a\n"), ("append:after#2", "a\nb\n")]
)
def test_the_process_really_dies_there(plan: str, printed: str, kill: Kill) -> None:
    life = run_life([sys.executable, "-c", DIES % (plan, str(kill))], timeout_seconds=60)
    assert (verify_kill(life, CrashPoint.parse(plan), kill), life.stdout) == (None, printed)


def test_only_the_named_death_of_a_life_is_died() -> None:
    store = faulty(Store(), {"append"}, "append:after#3")
    assert [store.append("a"), store.append("b")] == ["A", "B"]


# -- a proxy that is taken for the object ----------------------------------------------------------


@dataclass(order=True)
class Book:
    pages: list[str] = field(default_factory=list)

    def append(self, page: str) -> None:
        self.pages.append(page)

    def __len__(self) -> int:
        return len(self.pages)

    def __iadd__(self, page: str) -> Self:
        self.pages.append(page)
        return self


def grown(book: Book) -> tuple[bool, list[str]]:
    same = book
    book += "c"
    return book is same, book.pages


AS_THE_OBJECT: dict[str, tuple[Callable[[Book], Any], Any]] = {
    "isinstance": (lambda book: isinstance(book, Book), True),
    "__class__": (lambda book: book.__class__, Book),
    "length": (len, 2),
    "truth": (bool, True),
    "text": (repr, "Book(pages=['a', 'b'])"),
    "equality": (lambda book: (book == Book(["a", "b"]), Book(["a", "b"]) == book), (True, True)),
    "order": (lambda book: book < Book(["b"]), True),
    "no hash": (lambda book: type(book).__hash__, None),
    "attributes": (lambda book: book.pages, ["a", "b"]),
    "members": (vars, {"pages": ["a", "b"]}),
    "a dataclass": (asdict, {"pages": ["a", "b"]}),
    "a missing attribute": (lambda book: hasattr(book, "cover"), False),
    "in place": (grown, (True, ["a", "b", "c"])),
    "a method's name": (lambda book: book.append.__name__, "append"),
}


@pytest.mark.parametrize(("ask", "answer"), AS_THE_OBJECT.values(), ids=AS_THE_OBJECT)
def test_a_proxy_behaves_as_its_object(ask: Callable[[Book], Any], answer: Any) -> None:
    assert ask(Book(["a", "b"])) == answer
    assert ask(faulty(Book(["a", "b"]), {"append"})) == answer


def test_what_is_set_is_set_on_the_object() -> None:
    book = Book()
    wrapped = faulty(book, {"append"})
    wrapped.pages = ["x"]
    del wrapped.pages
    assert vars(book) == {}


def test_an_object_without_a_special_method_gets_none() -> None:
    with pytest.raises(TypeError):
        len(faulty(Store(), {"append"}))  # type: ignore[arg-type]


def test_a_coroutine_function_is_still_one() -> None:
    store = faulty(Store(), {"flush"})
    assert [inspect.iscoroutinefunction(call) for call in (store.flush, store.sync)] == [
        True,
        False,
    ]


def test_a_module_can_be_wrapped() -> None:
    module = types.ModuleType("storage")
    saved: list[str] = []
    module.save = saved.append  # type: ignore[attr-defined]
    counted = CountedCalls(lambda boundary, number: None)
    faulty(module, {"save"}, counted).save("a")
    assert (saved, counted.passed) == (["a"], [("save:before", 1), ("save:after", 1)])


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy], ids=lambda t: t.__name__)
def test_a_proxy_is_neither_pickled_nor_copied(take: Callable[[Any], Any]) -> None:
    with pytest.raises(
        UsageRefused, match=r"^a faulty Book cannot be pickled or copied: it counts"
    ):
        take(faulty(Book(), {"append"}))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a class": (lambda: faulty(Store, {"append"}), "Store is a class; wrap the object"),
    "one text as calls": (lambda: faulty(Store(), "append"), "calls are several names"),
    "no calls": (lambda: faulty(Store(), set()), "no call is named"),
    "a name without a place": (
        lambda: faulty(Store(), {"saveState"}),
        "a crash plan has no place for 'saveState'; .* calls={'saveState': 'save'}",
    ),
    "a plan at another call": (
        lambda: faulty(Store(), {"append"}, "save:before#1"),
        r"crash point save:before#1 is at no counted call \(append\)",
    ),
    "no number of an error": (
        lambda: faulty(Store(), {"append"}, "append:before#1", error=0),
        "error 0 is no number of an error",
    ),
    "an unknown death": (
        lambda: faulty(Store(), {"append"}, kill="softly"),  # type: ignore[arg-type]
        "kill 'softly'",
    ),
    "two deaths in one life": (
        lambda: faulty(Store(), {"append"}, "append:before#1;append:after#1"),
        "one life dies once",
    ),
}


@pytest.mark.parametrize(("wrap", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(wrap: Callable[[], Any], reason: str) -> None:
    with pytest.raises(UsageRefused, match=f"^{reason}"):
        wrap()


def test_a_plan_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(PlanRefused):
        faulty(Store(), {"append"}, "append")

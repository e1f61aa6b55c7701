"""Any object, made to die or to fail at its k-th call: a store of ours, or of another runtime.

    >>> store = faulty(Store(directory), calls={"append", "save"}, plan="append:after#2")

`append:before#2` is just before the second call of `append` in this life, counted over all its
threads; `append:after#2` is when that call has come back, with a result or an exception. A
coroutine is counted from its first step to its end.

Counted are calls of the object itself, and of what it hands out: what its context managers yield,
what its attributes and properties hold, and what its methods return or their coroutines come to,
as far as that has a call of one of the names. Not followed are classes, modules, and what is made
by the standard library: a list has an `append`, and is nobody's store. A call that an object makes
on *itself* goes round the proxy, and is not counted.

What comes back is a proxy, and behaves as the object does in all else: `isinstance` holds, and so
do operators, attributes, and hashes; only `type()` tells. An object that hands itself out, hands
the proxy out. It cannot be pickled or copied, since it counts for one life.
"""

from __future__ import annotations

import inspect
import sys
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import ExitStack
from functools import lru_cache, wraps
from types import ModuleType
from typing import Any, Final, Literal, NoReturn, TypeVar, cast

from resumeproof.crash.calls import AtBoundary, CountedCalls, Strike, named_calls
from resumeproof.crash.kill import kill_named
from resumeproof.crash.plan import CrashPoint
from resumeproof.errors import UsageRefused

Wrapped = TypeVar("Wrapped")

_ENTERING: Final = ("__enter__", "__aenter__")
_CONTAINERS: Final = (list, dict, set, tuple, bytearray, str, bytes, deque)
_NOT_FORWARDED: Final = frozenset(
    {
        *("__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__"),
        *("__annotations_cache__", "__class__", "__class_getitem__", "__copy__"),
        *("__deepcopy__", "__del__", "__delattr__", "__dict__", "__getattr__", "__getattribute__"),
        *("__getnewargs__", "__getnewargs_ex__", "__getstate__", "__init__", "__init_subclass__"),
        *("__new__", "__reduce__", "__reduce_ex__", "__setattr__", "__setstate__", "__slots__"),
        *("__subclasshook__", "__weakref__"),
    }
)


def faulty(
    obj: Wrapped,
    calls: Collection[str] | Mapping[str, str],
    plan: str | CrashPoint | CountedCalls | AtBoundary | None = None,
    *,
    kill: Literal["sigkill", "exit86"] = "sigkill",
    error: int | None = None,
) -> Wrapped:
    """Wrap `obj` so that whoever makes the call named in `plan` dies there, or gets an error.

    `calls` are the names of what is counted, as methods, or as attributes that are set (a property
    may save). Where a name has no place in a crash plan (`saveState`, `__setitem__`), a mapping
    gives it one: `{"saveState": "save"}`.

    `plan` is one crash point, such as "append:before#2", or "baseline" or None, which only count.
    Objects that share a `CountedCalls` are counted as one. A function is told of each boundary,
    with its name and its number, and does there what it likes.

    The process writes its witness and dies by `kill`; with `error`, such as `errno.ENOSPC` or
    `errno.EIO`, that one call raises `OSError` instead: `before` it has done anything, or `after`
    it has done it all, as an fsync does that fails.

    Raises `UsageRefused` for arguments that make no sense, `PlanRefused` for a plan's text.
    """
    names = named_calls(calls)
    if isinstance(obj, type):
        raise UsageRefused(reason=f"{obj.__name__} is a class; wrap the object that it makes")
    if not isinstance(plan, CountedCalls):
        strike = plan if callable(plan) else Strike.of(plan, names, kill_named(kill), error)
        plan = CountedCalls(strike)
    return cast(Wrapped, _proxy(obj, _Follower(names, plan)))


class _Follower:
    """Goes with an object's calls, and with what they hand out."""

    def __init__(self, names: Mapping[str, str], counted: CountedCalls) -> None:
        self._names = names
        self._counted = counted
        self._followed = (*names, *_ENTERING)

    def counts(self, name: str) -> bool:
        return name in self._names

    def hand_out(self, owner: _Proxy, value: Any) -> Any:
        """The value as a proxy if it is to be followed, else as it is."""
        if value is owner._faulty_object:
            return owner
        return _proxy(value, self) if self._is_followed(value) else value

    def through(self, owner: _Proxy, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, counted where it is named; what it comes to is handed out."""
        if inspect.iscoroutinefunction(call):

            @wraps(call)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                with ExitStack() as passage:
                    self._enter(passage, name)
                    return self.hand_out(owner, await call(*args, **kwargs))

            return awaited

        @wraps(call)
        def called(*args: Any, **kwargs: Any) -> Any:
            with ExitStack() as passage:
                self._enter(passage, name)
                value = call(*args, **kwargs)
                if inspect.iscoroutine(value):
                    return self._rest(owner, value, passage.pop_all())
                return self.hand_out(owner, value)

        return called

    async def _rest(
        self, owner: _Proxy, coroutine: Coroutine[Any, Any, Any], passage: ExitStack
    ) -> Any:
        """What a plain function began: its call has not come back before its coroutine has."""
        with passage:
            return self.hand_out(owner, await coroutine)

    def _enter(self, passage: ExitStack, name: str) -> None:
        if name in self._names:
            passage.enter_context(self._counted.call(self._names[name]))

    def _is_followed(self, value: Any) -> bool:
        if isinstance(value, _Proxy):
            # Somebody wrapped it before, perhaps for other calls; twice would count twice.
            again = value._faulty_follower._counted is self._counted
            return not again and self._is_followed(value._faulty_object)
        kind = type(value)
        if issubclass(kind, (type, ModuleType, *_CONTAINERS)) or _is_standard(kind):
            return False
        own = getattr(value, "__dict__", ())
        return any(hasattr(kind, name) or name in own for name in self._followed)


def _is_standard(kind: type) -> bool:
    """contextlib makes other people's context managers, and no object of its own to pass on."""
    root = kind.__module__.partition(".")[0]
    return root in sys.stdlib_module_names and root != "contextlib"


class _Proxy:
    """Stands for an object. What Python looks up on the type is in a subclass for each type."""

    __slots__ = ("__weakref__", "_faulty_follower", "_faulty_object")

    _faulty_object: Any
    _faulty_follower: _Follower

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._faulty_object, name)
        follower = self._faulty_follower
        if name.startswith("__"):
            return value
        if inspect.isroutine(value) or (callable(value) and follower.counts(name)):
            return follower.through(self, name, value)
        return follower.hand_out(self, value)

    def __setattr__(self, name: str, value: Any) -> None:
        self._faulty_follower.through(self, name, setattr)(self._faulty_object, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._faulty_object, name)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        name = type(self._faulty_object).__name__
        raise UsageRefused(
            reason=f"a faulty {name} cannot be pickled or copied: it counts the calls of one life; "
            f"pickle the {name} itself, and wrap what is made of it"
        )


def _proxy(obj: object, follower: _Follower) -> _Proxy:
    kind: Any = type(obj)
    made = object.__new__(_proxy_type(kind))
    object.__setattr__(made, "_faulty_object", obj)
    object.__setattr__(made, "_faulty_follower", follower)
    return made


@lru_cache(maxsize=256)
def _proxy_type(kind: type) -> type[_Proxy]:
    """A proxy for objects of one type, with the special methods that this type has."""
    members: dict[str, Any] = {
        "__slots__": (),
        "__class__": property(lambda proxy: proxy._faulty_object.__class__),
    }
    for name in dir(kind):
        if name.startswith("__") and name.endswith("__") and name not in _NOT_FORWARDED:
            value = getattr(kind, name)
            members[name] = _forwarding(name, value) if callable(value) else value
    return type(f"faulty {kind.__name__}", (_Proxy,), members)


def _forwarding(name: str, special: Callable[..., Any]) -> Callable[..., Any]:
    def forward(proxy: _Proxy, *args: Any, **kwargs: Any) -> Any:
        call = proxy._faulty_follower.through(proxy, name, special)
        return call(proxy._faulty_object, *args, **kwargs)

    return forward

"""What `module:factory` or `path/to/file.py:factory` on the command line leads to."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from resumeproof.errors import FactoryRefused

FILE_SUFFIX = ".py"


def load_factory(target: str) -> tuple[Callable[..., Any], str]:
    """The factory that a target names, and its name as `module:factory`.

    Modules are looked for in the working directory as well; beside a file, its neighbours are.
    Raises `FactoryRefused`. What an import prints goes to standard error.
    """
    origin, colon, attribute = target.rpartition(":")
    if not (colon and origin and attribute):
        raise FactoryRefused(
            target, "a target is written module:factory, or path/to/file.py:factory"
        )
    with contextlib.redirect_stdout(sys.stderr):
        load = _file if origin.endswith(FILE_SUFFIX) else _module
        try:
            module = load(target, origin)
        except FactoryRefused:
            raise
        except (Exception, SystemExit) as error:
            raise FactoryRefused(target, f"importing it raised {_told(error)}") from error
    found: Any = module
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            raise FactoryRefused(target, f"{module.__name__} has no {attribute}") from None
    if not callable(found):
        raise FactoryRefused(target, f"it is no factory but of type {type(found).__name__}")
    return found, f"{module.__name__}:{attribute}"


def _module(target: str, name: str) -> ModuleType:
    _look_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that is there may itself look for one that is not.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise FactoryRefused(
            target, f"there is no module {error.name} (looked in the working directory as well)"
        ) from error


def _file(target: str, origin: str) -> ModuleType:
    path = Path(origin).absolute()
    if not path.is_file():
        raise FactoryRefused(target, "there is no such file")
    name = path.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    if known is not None:
        raise FactoryRefused(target, f"another module is called {name}; rename the file")
    _look_in(path.parent)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _look_in(directory: Path) -> None:
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))


def _told(error: BaseException) -> str:
    """An exception and the line that raised it; the import machinery's own lines say nothing."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"SyntaxError: {error.msg} ({Path(error.filename).name}:{error.lineno})"
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    frames = traceback.extract_tb(error.__traceback__)
    places = [frame for frame in frames if not frame.filename.startswith("<frozen ")]
    if Path(places[-1].filename) == Path(__file__):
        return text
    return f"{text} ({Path(places[-1].filename).name}:{places[-1].lineno})"

"""Kills the toy runtime's driver, or fails it, at every call of its store:

python examples/harness/prove_toy.py toy_runtime
python examples/harness/prove_toy.py toy_runtime ENOSPC
python examples/harness/prove_toy.py toy_runtime_mended
"""

from __future__ import annotations

import errno
import sys
from importlib import import_module
from pathlib import Path

from toy_runtime import Store

from resumeproof.testing import StoreSeen, prove_store

SAVED = {"waiting": [], "running": ["resumed"], "completed": ["resumed", "completed"]}


def look(directory: Path) -> StoreSeen:
    store = Store(directory)
    return StoreSeen(records=store.recorded(), saved=SAVED[store.load()["status"]])


if __name__ == "__main__":
    name, *errors = sys.argv[1:] or sys.exit(__doc__)
    report = prove_store(
        Store,
        import_module(name).run,
        look,
        calls={"append", "save"},
        ends={"completed"},
        error=getattr(errno, errors[0]) if errors else None,
    )
    print(report)
    raise SystemExit(0 if report.passed else 1)

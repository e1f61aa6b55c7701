"""Lives that are lived to warm up leave nothing behind."""

from __future__ import annotations

import threading
from pathlib import Path

from resumeproof.crash.adoption import own_children
from resumeproof.proof.warming import warm_up


def test_warming_up_leaves_no_file_no_thread_and_no_process(tmp_path: Path) -> None:
    before = threading.active_count(), own_children()
    warm_up(tmp_path)
    assert (list(tmp_path.iterdir()), threading.active_count(), own_children()) == ([], *before)

"""What an image means: SQLite databases by what they hold, everything else by its bytes.

SQLite puts random salts into its logs, so that images of one meaning may have other bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from resumeproof.crash.syscalls.tree import Node
from resumeproof.proof.commands.images import Image
from resumeproof.stores.sqlite import Mode, connect

_MAGIC: Final = b"SQLite format 3\0"
_LOGS: Final = ("-wal", "-journal")
_SHARED_MEMORY: Final = "-shm"


def meaning_digest(image: Image, directory: Path, scratch: Path) -> str:
    """A digest that two images share where both say the same.

    `directory` holds the image, and is left as it is; `scratch` is a place of its own.
    """
    nodes = {path: node for path, _, node in image.tree.walk()}
    databases = {path for path, node in nodes.items() if _is_database(node)}
    digest = hashlib.blake2b(image.printed, digest_size=16)
    if not databases:
        digest.update(image.key[0].encode())
        return digest.hexdigest()
    companions = {path + suffix for path in databases for suffix in (*_LOGS, _SHARED_MEMORY)}
    for path, node in nodes.items():
        if path not in companions:
            digest.update(path.encode("utf-8", "surrogateescape") + b"\0")
            held = _held(path, nodes, directory, scratch) if path in databases else None
            for piece in _bytes_of(node) if held is None else (held,):
                digest.update(piece)
    return digest.hexdigest()


def _is_database(node: Node) -> bool:
    return node.content is not None and node.content.read(0, len(_MAGIC)) == _MAGIC


def _bytes_of(node: Node) -> Iterator[bytes]:
    yield f"{node.mode:o}{node.points_to or ''}\0".encode("utf-8", "surrogateescape")
    yield node.content.digest() if node.content is not None else b"directory"


def _held(path: str, nodes: Mapping[str, Node], directory: Path, scratch: Path) -> bytes | None:
    """The pages of a database as its logs leave them; None where SQLite refuses it."""
    try:
        return _pages(directory / path, "ro")
    except sqlite3.Error:
        return _recovered(path, nodes, scratch)
    finally:
        # Whoever reads a log makes an index of it there, which no crash has left.
        _put(nodes.get(path + _SHARED_MEMORY), directory / f"{path}{_SHARED_MEMORY}")


def _recovered(path: str, nodes: Mapping[str, Node], scratch: Path) -> bytes | None:
    """The same of a copy, where asking has to write: a transaction is to be rolled back."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for suffix in ("", *_LOGS):
        _put(nodes.get(path + suffix), scratch / f"database{suffix}")
    try:
        return _pages(scratch / "database", "rw")
    except sqlite3.Error:
        return None


def _pages(path: Path, mode: Mode) -> bytes:
    connection = connect(path, mode)
    try:
        # A copy that nobody needs tomorrow: closing it would wait for the disk.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        return connection.serialize()
    finally:
        connection.close()


def _put(node: Node | None, path: Path) -> None:
    """Let a file be what the node says; None: let there be none."""
    path.unlink(missing_ok=True)
    if node is not None and node.content is not None:
        with open(path, "xb") as out:
            node.content.write_to(out.fileno())
        path.chmod(node.mode)

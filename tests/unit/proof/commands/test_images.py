"""What images take: little more than what they differ in, and no more than there is room for."""

from __future__ import annotations

import pytest

from resumeproof.crash.syscalls.file import PAGE_BYTES
from resumeproof.crash.syscalls.operations import Call, Create, Recording, Write
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import UsageRefused
from resumeproof.proof.commands.images import Images, add_killed, killed
from resumeproof.proof.commands.room import Room

PAGES = 64


def recorded(*operations: Create | Write) -> Recording:
    calls = [
        Call(ordinal, 0, "write", ordinal, operation)
        for ordinal, operation in enumerate(operations, 1)
    ]
    return Recording(tuple(calls), (), {}, 0)


def one_large_write(offset: int) -> Recording:
    data = b"".join(bytes([1 + page % 250]) * PAGE_BYTES for page in range(PAGES))
    return recorded(
        Create(1, "file", 0o644), Write(1, "file", 0, b"old"), Write(1, "file", offset, data)
    )


@pytest.mark.parametrize("offset", [0, 1, PAGE_BYTES - 1])
def test_a_torn_write_holds_what_had_been_written_by_then(offset: int) -> None:
    recording = one_large_write(offset)
    write = recording.calls[-1].operation
    assert isinstance(write, Write)
    torn = 0
    for state, tree, _ in killed(recording, Tree()):
        if state.cut is not None:
            whole = bytearray(b"old".ljust(offset, b"\0") if offset else b"old")
            whole[offset : offset + state.cut] = write.data[: state.cut]
            file = tree.bytes_of(1, "file")
            assert file.read(0, file.size) == whole
            torn += 1
    assert torn == (PAGES if offset % PAGE_BYTES else PAGES - 1)


def test_torn_states_share_their_pages() -> None:
    images = Images()
    add_killed(images, one_large_write(0), Tree())
    pages = {
        id(page)
        for image in images.images
        for node in image.tree.nodes.values()
        if node.content is not None
        for page in node.content._pages.values()
    }
    assert len(images.images) > PAGES
    assert len(pages) < 3 * PAGES


def test_more_images_than_there_is_room_for_are_refused() -> None:
    images = Images(room=Room(limit_bytes=1))
    with pytest.raises(UsageRefused, match="do not fit into memory"):
        images.number(Tree(), b"")


def test_there_is_room_for_a_small_program() -> None:
    assert Images().number(Tree(), b"") == 0

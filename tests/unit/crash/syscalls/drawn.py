"""Random recordings of a few calls, each of which makes sense where it stands."""

from __future__ import annotations

from hypothesis import strategies as st

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.tree import Tree
from tests.unit.crash.syscalls.recordings import recording, tree

FILES = {"a": 1, "b": 2}


@st.composite
def programs(draw: st.DrawFn) -> op.Recording:
    """A few calls on two files and some names, each of which makes sense where it stands."""
    names = dict(FILES)
    made: list[op.Operation] = []
    for number in range(3, 3 + draw(st.integers(0, 6))):
        free = sorted({"a", "b", "c", "d"} - names.keys())
        name = draw(st.sampled_from(sorted(names)))
        inode = names[name]
        offset = draw(st.sampled_from([0, 3, 500, 512, 1000]))
        data = bytes([64 + number]) * draw(st.sampled_from([1, 20, 600]))
        choices: list[op.Operation] = [
            op.Write(inode, name, offset, data),
            op.Write(inode, name, offset, data, synchronous=True),
            op.Truncate(inode, name, offset),
            op.Allocate(inode, name, offset, 100),
            op.ChangeMode(name, 0o600),
            op.Sync(inode, name),
            op.Sync(inode, name, data_only=True),
            op.SyncDirectory(""),
            op.SyncAll(),
            op.Print(data),
        ]
        if free:
            choices += [
                op.Create(number, free[0], 0o644),
                op.Link(inode, free[0]),
                op.Rename(name, free[-1]),
            ]
        if len(names) > 1:
            other = draw(st.sampled_from(sorted(names.keys() - {name})))
            choices += [
                op.Unlink(name),
                op.Rename(name, other),
                op.Rename(name, other, exchanges=True),
            ]
        chosen: op.Operation = draw(st.sampled_from(choices))
        made.append(chosen)
        match chosen:
            case op.Create(named) | op.Link(named):
                names[free[0]] = named
            case op.Unlink(gone):
                del names[gone]
            case op.Rename(source, target, exchanges):
                assert source is not None, "nothing leaves the directory here"
                assert target is not None, "nothing leaves the directory here"
                moved, replaced = names.pop(source), names.get(target)
                if exchanges:
                    assert replaced is not None
                    names[source] = replaced
                elif moved == replaced:
                    names[source] = moved
                names[target] = moved
    return recording(*made)


def origin() -> Tree:
    return tree(a=b"a" * 700, b=b"")

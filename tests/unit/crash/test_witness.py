from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.crash.witness import (
    WITNESS_VARIABLE,
    Witness,
    WitnessReader,
    witness_address,
    write_witness,
)

LINE = b'resumeproof-witness {"boundary": "tool:after", "ordinal": 2, "pid": 7}\n'
WITNESS = Witness("tool:after", 2, 7)


def test_witness_goes_to_the_supervisors_pipe(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as pipe:
        monkeypatch.setenv(WITNESS_VARIABLE, witness_address(write_end))
        write_witness("tool:after", 2)
        os.close(write_end)
        line = pipe.read()
    assert (line, capfdbinary.readouterr()) == (
        LINE.replace(b"7", b"%d" % os.getpid()),
        (b"", b""),
    )


@pytest.mark.parametrize("address", [None, "", "x:1:1", "-1:0:0", "9" * 30], ids=repr)
def test_witness_without_a_supervisor_goes_to_stderr(
    address: str | None, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    if address is None:
        monkeypatch.delenv(WITNESS_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(WITNESS_VARIABLE, address)
    write_witness("tool:after", 2)
    assert WitnessReader().feed(capfdbinary.readouterr().err) == [
        Witness("tool:after", 2, os.getpid())
    ]


def test_witness_is_never_written_into_a_file_that_took_the_descriptors_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    read_end, write_end = os.pipe()
    monkeypatch.setenv(WITNESS_VARIABLE, witness_address(write_end))
    database = os.open(tmp_path / "database", os.O_CREAT | os.O_WRONLY)
    os.dup2(database, write_end)
    write_witness("tool:after", 2)
    for descriptor in (read_end, write_end, database):
        os.close(descriptor)
    assert ((tmp_path / "database").read_bytes(), LINE[:20] in capfdbinary.readouterr().err) == (
        b"",
        True,
    )


@given(
    st.lists(st.one_of(st.just(LINE), st.binary(max_size=600).map(lambda noise: noise + b"\n"))),
    st.data(),
)
def test_witnesses_are_read_however_the_stream_is_cut(
    lines: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    reader = WitnessReader()
    pieces = [
        stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
    ]
    found = [witness for piece in pieces for witness in reader.feed(piece)]
    assert found == [WITNESS] * lines.count(LINE)


@pytest.mark.parametrize(
    ("stream", "witnesses"),
    [
        (b"unfinished" + LINE, [WITNESS]),
        (b"x" * 100_000 + LINE, [WITNESS]),
        (LINE[:-1], []),
        (LINE[:-4] + b"\n", []),
        (b'resumeproof-witness {"boundary": "tool:after"}\n', []),
        (b"resumeproof-witness []\n", []),
        (b'resumeproof-witness {"boundary": "a:after", "ordinal": null, "pid": 7}\n', []),
        (b"resumeproof-witness \xff\n", []),
    ],
    ids=[
        "behind-an-unfinished-line", "behind-a-flood", "without-its-end", "cut-off",
        "words-missing", "no-object", "no-number", "no-utf8",
    ],
)  # fmt: skip
def test_only_a_whole_line_is_a_witness(stream: bytes, witnesses: list[Witness]) -> None:
    assert WitnessReader().feed(stream) == witnesses

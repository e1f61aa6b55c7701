from __future__ import annotations

import pytest

from resumeproof.crash.capture import CAPTURE_LIMIT_BYTES, Capture

HALF = CAPTURE_LIMIT_BYTES // 2


def captured(*pieces: bytes) -> tuple[str, int]:
    capture = Capture()
    for piece in pieces:
        capture.add(piece)
    return capture.text(), capture.left_out_bytes


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ((), ""),
        ((b"one ", b"two"), "one two"),
        ((b"\xc3", b"\xa4"), "\u00e4"),
        ((b"\xff",), "\ufffd"),
        ((b"a" * (HALF - 1) + b"\xc3", b"\xa4" + b"b" * (HALF - 1)), None),
    ],
    ids=["nothing", "pieces", "letter-in-two-pieces", "no-utf8", "letter-across-the-halves"],
)
def test_output_within_the_limit_is_whole(pieces: tuple[bytes, ...], text: str | None) -> None:
    expected = b"".join(pieces).decode(errors="replace") if text is None else text
    assert captured(*pieces) == (expected, 0)


@pytest.mark.parametrize("piece_bytes", [1 << 12, 1 << 21, HALF + 1], ids="pieces-of-{}".format)
def test_middle_of_a_long_output_is_left_out_and_counted(piece_bytes: int) -> None:
    whole = b"<" + b"-" * CAPTURE_LIMIT_BYTES + b">"
    pieces = (whole[i : i + piece_bytes] for i in range(0, len(whole), piece_bytes))
    text, left_out_bytes = captured(*pieces)
    kept = "<".ljust(HALF, "-") + "\n[2 bytes left out]\n" + ">".rjust(HALF, "-")
    assert (left_out_bytes, text == kept) == (2, True)

"""A power cut's plan in words."""

from __future__ import annotations

import pytest

from resumeproof.proof.commands.wording import lost_in_words


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("call:after#3", None),
        ("power.l13:after#15", "call 13 lost"),
        ("power.d1.l2.l5-9:after#15", "failure domain 1 alone, call 2 lost, calls 5 to 9 lost"),
        (
            "power.z2.h4-512:before#5;call:after#1",
            "call 2 left zeros, of call 4 only what lies before byte 512 kept",
        ),
        ("power.t4-512:after#5", "of call 4 only what lies from byte 512 on kept"),
    ],
)
def test_what_was_lost_is_told(plan: str, words: str | None) -> None:
    assert lost_in_words(plan) == (None if words is None else f"the power cut: {words}")

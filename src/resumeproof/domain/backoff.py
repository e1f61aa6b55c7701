"""How long to wait before a failed attempt is tried again: exponential, with full jitter.

Source of the rule: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
"""

from __future__ import annotations

RETRY_CAP_SECONDS = 60.0


def backoff_seconds(base_seconds: float, failures: int, jitter: float) -> float:
    """The wait after the `failures`-th failure (from 1); `jitter` is in [0, 1)."""
    # A float overflows from 2.0 ** 1024 on; the cap is reached long before.
    ceiling = min(RETRY_CAP_SECONDS, base_seconds * 2.0 ** min(failures - 1, 64))
    return jitter * ceiling

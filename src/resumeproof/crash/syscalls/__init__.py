"""Records the durable system calls of a program, and rebuilds what it had on its disk by then."""

from __future__ import annotations

"""An agent killed at each durable system call of its lives, and not only at its effects."""

from __future__ import annotations

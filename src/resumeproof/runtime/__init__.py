"""Carry decisions out: the lock, the clock, and one transition after another."""

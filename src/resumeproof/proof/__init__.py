"""Carry out scenarios in processes that really die, and judge what is left."""

"""A package, so that no other distribution's `tests` can be imported in place of this one."""

"""Make processes die where a plan says so, and describe how they died."""

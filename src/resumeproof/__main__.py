"""`python -m resumeproof`, for where the console script is not on the path."""

from __future__ import annotations

from resumeproof.cli import main

if __name__ == "__main__":
    main(prog_name="resumeproof")

"""The command line, one file for each group of commands."""

from __future__ import annotations

import click

from resumeproof import __version__


@click.group()
@click.version_option(__version__)
def main() -> None:
    """Kill a workflow wherever a crash can hurt it, resume it, and show whether that was safe."""

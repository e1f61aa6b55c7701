"""A group of commands whose modules are imported when they are invoked, and not before."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """`homes` maps the names of commands to `module:attribute`, in the order of the help page."""

    def __init__(self, *args: Any, homes: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._homes:
            return None
        module, _, attribute = self._homes[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

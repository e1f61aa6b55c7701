"""Small agents for the proofs of this folder; importable, so that a spawned life finds them."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from resumeproof import Context


class Careful:
    """Asks the receiver before it repeats an effect, and saves what is done by a rename."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.file = ctx.directory / "done.json"
        self.done: list[Any] = json.loads(self.file.read_text()) if self.file.exists() else []

    def step(self, item: Any) -> None:
        if item not in self.done:
            self.work(item)
            self.done.append(item)
            self.save()

    def work(self, item: Any) -> None:
        if self.ctx.lookup(f"charge:{item}") is None:
            self.charge(item)

    def charge(self, item: Any) -> None:
        self.ctx.effect("charge", item, key=f"charge:{item}")

    def save(self) -> None:
        fresh = self.file.with_suffix(".fresh")
        fresh.write_text(json.dumps(self.done))
        fresh.replace(self.file)

    def state(self) -> Any:
        return {"done": self.done}


class Repeating(Careful):
    """Never asks: killed after an effect and before the save, it has the effect again."""

    def work(self, item: Any) -> None:
        self.charge(item)


class Unkeyed(Careful):
    """Never asks, and gives the receiver nothing to tell a repeat by."""

    def work(self, item: Any) -> None:
        self.ctx.effect("charge", item)


class Hasty(Careful):
    """Saves that an item is done before it is: killed in between, the effect never happens."""

    def step(self, item: Any) -> None:
        if item not in self.done:
            self.done.append(item)
            self.save()
            self.work(item)


class Stateless(Careful):
    """Nothing to show but its effects."""

    state = None  # type: ignore[assignment]


class Trusting(Stateless):
    """Writes nothing down: what is done, the receiver knows."""

    def save(self) -> None:
        pass


class Awaiting(Careful):
    """The careful one, with async methods."""

    async def step(self, item: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().step(item)

    async def state(self) -> Any:
        await asyncio.sleep(0)
        return super().state()


class SafeOnce(Careful):
    """Asks the receiver in its first resume, and takes a second one for the end of the story."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        lives = ctx.directory / "lives"
        self.lives = 1 + (int(lives.read_text()) if lives.exists() else 0)
        lives.write_text(str(self.lives))

    def work(self, item: Any) -> None:
        if self.lives > 2 or self.ctx.lookup(f"charge:{item}") is None:
            self.charge(item)


class Telling(Repeating):
    """Says in its state what differs from life to life and from machine to machine."""

    def state(self) -> Any:
        return {
            "done": self.done,
            "set": {f"item {item}" for item in range(20)},
            "file": self.file,
            "name": str(self.file),
            "run": self.ctx.run_id,
        }


class Failing(Careful):
    """Its resume raises, and the message tells of a path and of an object's address."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.resumed = bool(self.done)

    def work(self, item: Any) -> None:
        if self.resumed:
            raise RuntimeError(f"cannot go on in {self.file}: {object()}")
        super().work(item)


class Alone(Careful):
    """Bears no life but that of an interpreter of its own."""

    def __init__(self, ctx: Context) -> None:
        if "pytest" in sys.modules:
            raise RuntimeError("somebody was here before")
        super().__init__(ctx)


class Effectless:
    def __init__(self, ctx: Context) -> None:
        pass

    def step(self, item: Any) -> None:
        pass


class Noting(Careful):
    """Writes its run id down where no scenario's end removes it: in the file that it is fed."""

    def step(self, item: Any) -> None:
        with Path(item).open("a") as notes:
            notes.write(f"{self.ctx.run_id}\n")
        super().step(item)


class Seeing(Careful):
    """Writes down where its directory is."""

    def work(self, item: Any) -> None:
        with Path(item).open("a") as notes:
            notes.write(f"{self.ctx.directory}\n")
        super().work(item)

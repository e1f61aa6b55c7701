"""A page as a test looks at it, which notices whatever a report must not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page

Scheme = Literal["light", "dark"]
WIDTHS = (390, 1440)


@dataclass
class Look:
    """An open page. `said` is what its console said, `asked` what it asked for beside itself."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def plan(self) -> tuple[int, str]:
        """The scenario that is open."""
        proof, plan = self.page.locator("#scenario").evaluate(
            "panel => [Number(panel.dataset.proof), panel.dataset.plan]"
        )
        return int(proof), str(plan)

    def marks(self) -> dict[str, int]:
        """How many rows of each kind the open scenario's picture has."""
        found: dict[str, int] = self.page.locator("#scene svg").evaluate(
            """svg => Object.fromEntries([...svg.querySelectorAll("[data-mark]")]
                .reduce((counts, mark) => counts.set(mark.dataset.mark,
                    (counts.get(mark.dataset.mark) || 0) + 1), new Map()))"""
        )
        return found

    def open(self, proof: int, plan: str) -> None:
        """Open a scenario by its address, as a link does."""
        self.page.evaluate(
            "([proof, plan]) => { location.hash = `#${proof}/${encodeURIComponent(plan)}` }",
            [proof, plan],
        )
        self.page.wait_for_function(
            "([proof, plan]) => document.getElementById('scenario').dataset.plan === plan"
            " && document.getElementById('scenario').dataset.proof === String(proof)",
            arg=[proof, plan],
        )

    def focused(self) -> Any:
        """What the focused element says it is."""
        return self.page.evaluate(
            "() => [document.activeElement.getAttribute('role') || document.activeElement.tagName,"
            " document.activeElement.ariaLabel || document.activeElement.textContent]"
        )


@contextmanager
def opened(
    browser: Browser,
    file: Path,
    *,
    width: int = 1440,
    scheme: Scheme = "light",
    scripts: bool = True,
) -> Iterator[Look]:
    """Open a file in a window of its own; at the end, nothing must have been said or asked for."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=scripts,
        offline=True,
    )
    try:
        page = context.new_page()
        look = Look(page)
        address = file.as_uri()
        page.on("console", lambda message: look.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: look.said.append(f"error: {error}"))
        page.on("request", lambda request: look.asked.append(request.url))
        page.goto(address)
        yield look
        assert (look.said, set(look.asked) - {address}) == ([], set())
    finally:
        context.close()

"""Kill a workflow wherever a crash can hurt it, resume it, and show whether that was safe.

Public names are handed on lazily (PEP 562), because every process that is started to be killed
pays for what this package imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from resumeproof.version import __version__

if TYPE_CHECKING:
    from resumeproof.domain.conformance import ConformanceReport
    from resumeproof.domain.contract import Lookup, ToolContract
    from resumeproof.domain.verdict import Finding
    from resumeproof.errors import ResumeproofError
    from resumeproof.proof.conform import conform
    from resumeproof.proof.context import Context, Effect, EffectLog, InjectedCrash, Unknown

__all__ = [
    "ConformanceReport",
    "Context",
    "Effect",
    "EffectLog",
    "Finding",
    "InjectedCrash",
    "Lookup",
    "ResumeproofError",
    "ToolContract",
    "Unknown",
    "__version__",
    "conform",
]

_HOMES = {
    "ConformanceReport": "resumeproof.domain.conformance",
    "Context": "resumeproof.proof.context",
    "Effect": "resumeproof.proof.context",
    "EffectLog": "resumeproof.proof.context",
    "Finding": "resumeproof.domain.verdict",
    "InjectedCrash": "resumeproof.proof.context",
    "Lookup": "resumeproof.domain.contract",
    "ResumeproofError": "resumeproof.errors",
    "ToolContract": "resumeproof.domain.contract",
    "Unknown": "resumeproof.proof.context",
    "conform": "resumeproof.proof.conform",
}


def __getattr__(name: str) -> Any:
    """Import the module that is a public name's home, and return what it calls by that name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

"""The workflow shapes: patterns whose crash safety is claimed, each killed at every store call."""

from __future__ import annotations

from types import MappingProxyType

from resumeproof.proof.shapes.effect_chain import EFFECT_CHAIN
from resumeproof.proof.shapes.entity_visit import ENTITY_VISIT
from resumeproof.proof.shapes.event_fanout import EVENT_FANOUT
from resumeproof.proof.shapes.shape import Shape
from resumeproof.proof.shapes.steer_drain import STEER_DRAIN
from resumeproof.proof.shapes.subworkflow import SUBWORKFLOW
from resumeproof.proof.shapes.tool_approval import TOOL_APPROVAL
from resumeproof.proof.shapes.wait_until import WAIT_UNTIL

SHAPES = MappingProxyType(
    {
        shape.name: shape
        for shape in (
            EFFECT_CHAIN,
            TOOL_APPROVAL,
            EVENT_FANOUT,
            WAIT_UNTIL,
            SUBWORKFLOW,
            STEER_DRAIN,
            ENTITY_VISIT,
        )
    }
)

__all__ = ["SHAPES", "Shape"]

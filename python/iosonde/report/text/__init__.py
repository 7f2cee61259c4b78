"""Answers as text: under 80 columns, quotable; computes nothing.
Each command has a module, loaded on first use. Shared layout is in ``layout`` and re-exported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

from .layout import CANNOT_TELL, WIDTH, escape, estimate_parts, estimate_text, table, width, wrapped

if TYPE_CHECKING:
    from . import (  # noqa: F401, I001
        advise, anova, application, bound, check, compare, compare_markdown, corpus, describe, diagnose, doctor,
        explain_difference, faults, plan_iozone,
        fit, import_, lab, noise, parse, path_study, plan, predict, probe, queue, rank, regress, scale, show,
        slowest, store, summary, survey, survey_more,
        time_model, upgrade, validate, verify, watch,
    )  # fmt: skip

__all__ = ["CANNOT_TELL", "WIDTH", "escape", "estimate_parts", "estimate_text", "table", "width", "wrapped"]
__getattr__ = modules_of(__name__)

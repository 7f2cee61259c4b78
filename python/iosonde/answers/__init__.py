"""Answers to questions about DATA, one file per question. Each has a function ``answer(source, query, …) → Answer``
with estimates, findings and a sentence. An answer chooses the estimators and writes the sentence; ``stats``, ``model``
and ``explain`` compute, ``report`` renders. Public files are importable from here; each is loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import (  # noqa: F401, I001
        advise, anova, as_tool, bound, candidates, check, cluster, compare, corpus, corpus_page,
        diagnose, doctor, explain, explain_difference, fit, held_out, lab_cluster, lab_spread, model_file,
        page, parse, path_study, plot, predict, printed, published, published_side, queue, rank, regress,
        report, scale, show, slowest, store, store_history, store_index, summary, survey, thesis, time_model,
        time_parts, upgrade, validate, verify, watch,
        watch_compare,
    )  # fmt: skip

__getattr__ = modules_of(__name__)

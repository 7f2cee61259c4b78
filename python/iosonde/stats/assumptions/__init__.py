"""Assumptions of a claim: checked before it becomes a verdict, by every command in the same way."""

from .check import AssumptionCheck, CheckOutcome, doubtful, fails, holds, not_applicable
from .judge import find_deciding_check, judge, judge_all, list_doubts, list_withdrawn_subjects

__all__ = [
    "AssumptionCheck",
    "CheckOutcome",
    "doubtful",
    "fails",
    "find_deciding_check",
    "holds",
    "judge",
    "judge_all",
    "list_doubts",
    "list_withdrawn_subjects",
    "not_applicable",
]

"""Complete history of stores, for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from iosonde.core.message import Message
from iosonde.core.words import counted
from iosonde.store import Store
from iosonde.store.export import export
from iosonde.store.history import History


def write_history(names: Sequence[str], form: str, file: BinaryIO, incomplete: bool = False) -> list[str]:
    """Write one row per result of every run, with commit, date and factors; return sentences on what was left out.
    ``form``: csv, json or parquet. Raises InputError, DataError if a name is not a store."""
    history = History([(name, Store.open(name)) for name in names], incomplete)
    export(history.tables(), form, file)
    messages: list[str] = [
        Message("excluded", "left out: {problem}", problem=problem) for problem in dict.fromkeys(history.problems)
    ]
    if count := history.n_incomplete_omitted:
        template = "left out: {runs}; {spell.incomplete} includes them"
        messages.append(Message("incomplete-excluded", template, runs=counted(count, "incomplete run")))
    return messages

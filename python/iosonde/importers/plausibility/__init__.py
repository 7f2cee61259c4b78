"""Rules that the numbers of one execution must obey, for all importers: one module for each family of rules.

A number that breaks a rule is kept as the tool printed it, noted with its line, and left out of the headlines
(``Parsed.contradictions``). The sentence says which of the two numbers is believed. A rule is silent about numbers that
are absent, and allows for the digits that tools round away.
"""

from ..parsed import Parsed
from .buffered_writes import find_buffered_writes
from .caches import find_cached_reads
from .clocks import find_clock_offsets
from .latencies import find_impossible_latencies
from .littles_law import find_wrong_in_flight
from .numbers import group_numbers
from .order import find_disordered_statistics, note_bin_edge
from .random_offsets import find_drawn_offsets
from .short_times import CODE as SHORT_TIME
from .short_times import find_short_times
from .totals import find_wrong_totals
from .unit_factors import find_unit_factors


def note_contradictions(run: Parsed) -> None:
    """Note the numbers of ``run`` that break a rule. A second call notes only what is new."""
    groups = group_numbers(run)
    if not groups:
        return
    noted = {(entry.code, entry.operation, entry.metrics, entry.line) for entry in run.contradictions}
    for find in (
        find_impossible_latencies,
        find_disordered_statistics,
        find_wrong_totals,
        find_unit_factors,
        find_wrong_in_flight,
        find_cached_reads,
        find_buffered_writes,
        find_short_times,
        find_drawn_offsets,
        find_clock_offsets,
    ):
        for contradiction in find(run, groups):
            key = contradiction.code, contradiction.operation, contradiction.metrics, contradiction.line
            if key not in noted:
                noted.add(key)
                if contradiction.code == SHORT_TIME or contradiction.memory_bytes:
                    run.contradictions.append(contradiction)  # no number is read in another way
                else:
                    run.contradict(contradiction)
    note_bin_edge(run, groups)


__all__ = ["note_contradictions"]

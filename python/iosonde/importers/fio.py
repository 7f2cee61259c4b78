"""fio 2.x and 3.x: JSON and json+ (also several documents, client/server, with text around), terse, normal text.

Made by ``fio --name=j --rw=randread --bs=4k --output-format=json``:

    "read": {"io_bytes": 16777216, "bw_bytes": 2796202666, "iops": 682666.67, "clat_ns": {"mean": 1202.25, …

is ``read bandwidth_last_done`` (bytes/s), ``rate_last_done``, ``bytes``, ``time``, ``latency_*`` (fio's ``lat``) and
``completion_latency_*`` (``clat``), with percentiles as ``completion_latency_p99``, all in s. A job entry is one
thread, or with group_reporting all of them: its bytes over its longest runtime. Several entries of one job are its
threads: each is ``bandwidth_own`` of a rank, and ``bandwidth_sum_of_ranks`` is their sum. Percentiles of all threads
come from their histograms (json+), if printed. Documents of ``--status-interval`` are snapshots of one run: only the
last counts.
"""

from __future__ import annotations

from .parsed import CERTAIN, LIKELY, Claim, Parsed
from .text import Text

NAME = "fio"
BEGINS = (": (g=0): rw=",)
HEADLINE = ("bandwidth", "rate", "completion_latency_p99")


def claims(text: Text) -> Claim | None:
    """Recognise the JSON's version key, a terse line, or the normal output's own lines."""
    if occurrence := text.find('"fio version"'):
        return Claim(CERTAIN, *occurrence)
    from .fio_terse import STARTS, TERSE
    from .fio_text import JOB

    if hit := text.search(TERSE, *STARTS):
        return Claim(CERTAIN, hit[0], f"a terse line of {hit[1].group(2) or 'version 2'}")
    if claim := Claim.from_match(CERTAIN, text.search(JOB, ": (groupid=")):
        return claim
    if "\nRun status group " in text.content:
        return Claim.from_match(LIKELY, text.find("Run status group "))
    return Claim.from_match(LIKELY, text.find("fio: terminating on signal", "fio: pid="))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution. If text and JSON were both printed, the JSON is read: it has all digits."""
    if '"fio version"' in text.content:
        from .fio_json import parse_json

        return parse_json(text)
    from .fio_terse import STARTS, TERSE, parse_terse
    from .fio_text import parse_text

    return parse_terse(text) if text.search(TERSE, *STARTS) else parse_text(text)

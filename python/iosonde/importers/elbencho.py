"""elbencho 1.x to 3.x: text, ``--csvfile``, ``--jsonfile``, ``--livecsv``, ``--opslog``.

Made by ``elbencho -w -r -t 2 -s 16m -b 1m DIR --csvfile r.csv --jsonfile r.json``:

    OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
    WRITE       Elapsed time     :        69ms        70ms
                Files/s          :       27862       28302
                Throughput MiB/s :         108         110

becomes ``write bandwidth_first_done`` and ``bandwidth_last_done`` in bytes/s, ``rate_…`` (entries: files,
directories), ``access_rate_…`` (IOPS: single reads and writes), ``time_…``, ``bytes_…`` and ``operations_…``
(entries). Text and CSV round to whole MiB/s; the JSON has bytes/s. ``--livecsv stdout`` prints its samples inside the
table: both are read. Several blocks are several runs. After an interrupt or at a time limit elbencho prints blocks
that look normal: its own message marks them incomplete.
"""

from .parsed import CERTAIN, LIKELY, WEAK, Claim, Parsed
from .text import Text

NAME = "elbencho"
HEADLINE = ("bandwidth", "rate", "access_rate", "access_latency_p99")

_CSV = "ISO date,label,path type,paths,hosts,threads,"
_LIVE = "Label,Phase,RuntimeMS,Rank,MixType,"


def claims(text: Text) -> Claim | None:
    """Recognise the table's header, a CSV's header, JSON keys, or the errors' form."""
    for needles, score in (
        (("RESULT TYPE", _CSV, _LIVE), CERTAIN),
        (('"first_done"', '"op_name"', '"phase_type"'), LIKELY),
        (("SysErr: ", "--dryrun"), WEAK),
    ):
        if occurrence := text.find(*needles):
            line = text.lines[occurrence[0] - 1]
            if occurrence[1] != "RESULT TYPE" or ("OPERATION" in line and "LAST DONE" in line):
                return Claim(score, occurrence[0], line.strip()[:60])
    return None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution, or each row of the side files that belongs to another one."""
    if _has_live_table(text):
        from .elbencho_live import parse_live_table

        return parse_live_table(text)
    if occurrence := text.find(_CSV, _LIVE):
        from .elbencho_csv import parse_csv, parse_live

        return (parse_csv if occurrence[1] == _CSV else parse_live)(text, occurrence[0])
    if text.find('"op_name"') and text.find('"is_finished"'):
        from .elbencho_opslog import parse_log

        return [parse_log(text)]
    if text.find('"first_done"', '"phase_type"'):
        from .elbencho_json import parse_json

        return parse_json(text)
    from .elbencho_text import parse_text

    return parse_text(text)


def _has_live_table(text: Text) -> bool:
    """Return whether samples of ``--livecsv stdout`` stand inside the result table."""
    return _LIVE in text.content and "RESULT TYPE" in text.content and "LAST DONE" in text.content

"""obdfilter-survey of Lustre's I/O kit: the storage targets (OSTs) of servers, without clients.

    Fri Nov 20 17:26:04 CET 2026 Obdfilter-survey for case=disk from oss1
    ost  2 sz 16777216K rsz 1024K obj    4 thr    8 write  512.50 [  64.25,  80.75] rewrite  600.00 [  70.00,  90.00]

becomes ``write bandwidth_last_done``, bytes over the time from the start of all programs to the end of the last, and
``bandwidth_own_interval_min``, ``…_max`` of any single OST (``lustre_survey``). Objects and threads are those of all
OSTs. MB are 2^20 bytes. Source: ``obdfilter-survey/obdfilter-survey``.
"""

import re

from iosonde.core.types import FactorValue

from .lustre_survey import LustreSurvey, read_survey
from .parsed import CERTAIN, Claim, Parsed
from .text import Text

NAME = "obdfilter-survey"
HEADLINE = ("bandwidth",)

_HEAD = re.compile(r"\bost +(\d{1,6}) sz +(\d{1,15})K rsz +(\d{1,9})K? obj +(\d{1,9}) thr +(\d{1,9})(?: |$)")
_TITLE = re.compile(r" ?\bObdfilter-survey for case=(?P<case>\w+) from (?P<host>\S+)")


def claims(text: Text) -> Claim | None:
    """Recognise the line of a setting, or the title."""
    return Claim.from_match(CERTAIN, text.search(_HEAD, "\nost ") or text.find("Obdfilter-survey for case="))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each survey."""
    return read_survey(text, _SURVEY)


def _read_settings(match: re.Match[str]) -> dict[str, FactorValue]:
    targets, size, record, objects, threads = (int(word) for word in match.groups())
    return {
        "osts": targets,
        "transfer_size": record << 10,
        "objects": objects,
        "threads": threads,
        "bytes": size << 10,
    }


_SURVEY = LustreSurvey(_HEAD, _TITLE, _read_settings, lambda settings: "bandwidth_last_done", "bytes/s", 2.0**20)

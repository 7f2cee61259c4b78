"""mds-survey of Lustre's I/O kit: the metadata targets (MDTs) of servers, without clients.

    Fri Nov 20 17:26:04 CET 2026 /usr/bin/mds-survey from mds1
    mdt 1 file  100000 dir    4 thr    8 create 5000.50 [ 999.00,9000.25] destroy 6000.00 [   0.00,9500.00]

becomes ``create rate_last_done``, until the last thread is done, and ``rate_own_interval_min``, ``…_max``
(``lustre_survey``). With several MDTs the number is no sum, whatever the manual says: newer versions print the mean
over MDTs, older ones the rate of the first. It is then ``rate_own_mean``. Files and threads are those of each MDT.
Source: ``mds-survey/mds-survey``, ``lustre/utils/obd.c``.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .lustre_survey import LustreSurvey, read_survey
from .parsed import CERTAIN, Claim, Parsed
from .text import Text

NAME = "mds-survey"
HEADLINE = ("rate", "rate_own")

_HEAD = re.compile(r"\bmdt +(\d{1,6}) file +(\d{1,12}) dir +(\d{1,9}) thr +(\d{1,9})(?: |$)")
_TITLE = re.compile(r" ?(?:(?<=\s)|^)\S*mds-survey from (?P<host>\S+)")
_MEAN = "rate_own_mean"


def claims(text: Text) -> Claim | None:
    """Recognise the line of a setting, or the title."""
    return Claim.from_match(CERTAIN, text.search(_HEAD, "\nmdt ") or text.find("mds-survey from "))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each survey."""
    runs = read_survey(text, _SURVEY)
    for run in runs:
        if line := next((row.line for row in run.rows if row.metric == _MEAN), 0):
            message = "with several MDTs the rates are the mean over them, in older versions of the first alone: no sum"
            run.warn(line, Message("rate-of-one-target", message))
    return runs


def _read_settings(match: re.Match[str]) -> dict[str, FactorValue]:
    return dict(zip(("mdts", "files", "directories", "threads"), map(int, match.groups()), strict=True))


def _get_speed(settings: dict[str, FactorValue]) -> str:
    return _MEAN if settings["mdts"] != 1 else "rate_last_done"


_SURVEY = LustreSurvey(_HEAD, _TITLE, _read_settings, _get_speed, "operations/s", 1.0)

"""Job header at the begin of every text of Darshan's tools."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from .parsed import Parsed
from .reading import number, parse_integer
from .text import Text


def job(text: Text) -> Parsed:
    """Return version, command, ranks, start time and duration."""
    run = Parsed()
    head = text.content[: 1 << 16]
    header = {name: value.strip() for name, value in re.findall(r"^# ([a-z _]+): (.*)$", head, re.MULTILINE)}
    run.version = f"log {header['darshan log version']}" if "darshan log version" in header else ""
    if ranks := parse_integer(header.get("nprocs", "")):
        run.factors["ranks"] = ranks
    run.seconds = number(header.get("run time", "")) or 0.0
    begin = parse_integer(header.get("start_time", ""))
    if begin and begin < 2**33:
        run.started_at = datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for name, fact in (("exe", "command"), ("jobid", "job")):
        if header.get(name):
            run.facts[fact] = header[name][:2000]
    return run

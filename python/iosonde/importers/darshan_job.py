"""What every text of Darshan's tools says of the job, before anything else."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from .parsed import Parsed
from .reading import number, whole_number
from .text import Text


def job(text: Text) -> Parsed:
    """Version, command, ranks, when, how long."""
    run = Parsed()
    head = text.whole[: 1 << 16]
    said = {name: value.strip() for name, value in re.findall(r"^# ([a-z _]+): (.*)$", head, re.MULTILINE)}
    run.version = f"log {said['darshan log version']}" if "darshan log version" in said else ""
    if ranks := whole_number(said.get("nprocs", "")):
        run.factors["ranks"] = ranks
    run.seconds = number(said.get("run time", "")) or 0.0
    begin = whole_number(said.get("start_time", ""))
    if begin and begin < 2**33:
        run.started_at = datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for name, fact in (("exe", "command"), ("jobid", "job")):
        if said.get(name):
            run.facts[fact] = said[name][:2000]
    return run

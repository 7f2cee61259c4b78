"""The current batch job of Slurm or PBS: its id, nodes, and end time."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from . import reading
from .fact_types import Job


def identify_job(env: Mapping[str, str]) -> Job | None:
    """Return scheduler, job id, nodes, partition, ``walltime_end`` (ISO 8601, UTC); None outside a job."""
    if env.get("SLURM_JOB_ID"):
        return {
            "name": "slurm",
            "job": env["SLURM_JOB_ID"],
            "nodes": reading.parse_integer(env.get("SLURM_JOB_NUM_NODES")),
            "node_list": env.get("SLURM_JOB_NODELIST"),
            "partition": env.get("SLURM_JOB_PARTITION"),
            "walltime_end": _format_iso(find_slurm_end(env)),
        }
    if not env.get("PBS_JOBID"):
        return None
    return {
        "name": "pbs",
        "job": env["PBS_JOBID"],
        "nodes": reading.parse_integer(env.get("PBS_NUM_NODES")),
        "node_list": ",".join(dict.fromkeys((reading.read_text(env.get("PBS_NODEFILE", "")) or "").split())) or None,
        "partition": env.get("PBS_QUEUE"),
        "walltime_end": _format_iso(parse_pbs_end(reading.run_tool(["qstat", "-f", env["PBS_JOBID"]]) or "")),
    }


def find_slurm_end(env: Mapping[str, str]) -> float | None:
    """Return the end of the Slurm job in seconds since 1970: from its environment (since 22.05), else from scontrol."""
    end_time = reading.parse_integer(env.get("SLURM_JOB_END_TIME"))
    if end_time:
        return float(end_time)
    return parse_scontrol(reading.run_tool(["scontrol", "show", "job", "-o", env["SLURM_JOB_ID"]]) or "")


def parse_scontrol(content: str) -> float | None:
    """Parse ``EndTime=2026-11-21T12:00:00`` of ``scontrol show job`` (local time); None if unknown or unlimited."""
    match = re.search(r"\bEndTime=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", content)
    return datetime.fromisoformat(match.group(1)).timestamp() if match else None


def parse_pbs_end(content: str) -> float | None:
    """Return start + walltime of ``qstat -f`` (PBS Pro: stime, Torque: start_time); None if one is missing."""
    walltime = re.search(r"^\s*Resource_List\.walltime = (\d+):(\d\d):(\d\d)$", content, re.MULTILINE)
    started = re.search(r"^\s*(?:stime|start_time) = (.+)$", content, re.MULTILINE)
    if not walltime or not started:
        return None
    try:
        start = time.mktime(time.strptime(started.group(1).strip(), "%a %b %d %H:%M:%S %Y"))
    except ValueError:
        return None
    hours, minutes, seconds = map(int, walltime.groups())
    return start + hours * 3600 + minutes * 60 + seconds


def _format_iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()

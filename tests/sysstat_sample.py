"""Outputs of iostat and sar as sysstat writes them, with figures of our own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

HEAD = "Linux 5.15.0-91-generic (oss1) \t{date} \t_x86_64_\t(8 CPU)\n\n"
CPUS = (
    "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
    "           2.00    0.00    1.00   10.00    0.50   86.50\n\n"
)
DEVICES = (
    "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await"
    " wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util\n"
)
DISKS = "DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util"
# Device → utilisation in %, kB/s written.
Loads = Mapping[str, tuple[float, float]]
Load = Callable[[datetime], Loads]


def build_iostat(
    times: Iterable[datetime], load: Load, form: str = "%m/%d/%y %H:%M:%S", timed: bool = True, day: str = "05/03/23"
) -> str:
    """Return ``iostat -x -t N``: a report at each time, ``load`` says what each device did before it."""
    parts = [HEAD.format(date=day)]
    for time in times:
        parts += [f"{time.strftime(form)}\n"] * timed + [CPUS, DEVICES]
        for device, (busy, written) in load(time).items():
            reads, writes = "100.00 100.00 0.00 0.00 10.00 1.00", f"300.00 {written:.2f} 0.00 0.00 20.00 1.00"
            parts.append(f"{device:<12} {reads} {writes} 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 7.50 {busy:.2f}\n")
        parts.append("\n\n")
    return "".join(parts)


def build_iostat_json(times: Iterable[datetime], load: Load, form: str = "%m/%d/%y %H:%M:%S") -> str:
    """Return ``iostat -x -t -o JSON N``."""
    reports = ",\n".join(_format_json_report(time.strftime(form), load(time)) for time in times)
    head = '{"sysstat": {\n\t"hosts": [\n\t\t{\n\t\t\t"nodename": "oss1",\n\t\t\t"statistics": [\n'
    return f"{head}{reports}\n\t\t\t]\n\t\t}}\n\t]\n}}}}\n"


def _format_json_report(time: str, loads: Loads) -> str:
    disks: list[dict[str, Any]] = [
        {
            "disk_device": device,
            "r/s": 100.0,
            "w/s": 300.0,
            "rkB/s": 100.0,
            "wkB/s": written,
            "r_await": 10.0,
            "w_await": 20.0,
            "aqu-sz": 7.5,
            "util": busy,
        }
        for device, (busy, written) in loads.items()
    ]
    rows = ",\n".join(f"\t\t\t\t\t\t{json.dumps(disk)}" for disk in disks)
    cpu = '"avg-cpu":  {"user": 2.00, "nice": 0.00, "system": 1.00, "iowait": 10.00, "steal": 0.50, "idle": 86.50}'
    body = f'"timestamp": "{time}",\n\t\t\t\t\t{cpu},\n\t\t\t\t\t"disk": [\n{rows}\n\t\t\t\t\t]'
    return f"\t\t\t\t{{\n\t\t\t\t\t{body}\n\t\t\t\t}}"


def build_sar(times: Iterable[datetime], load: Load, form: str = "%H:%M:%S", day: str = "05/03/23") -> str:
    """Return ``sar -d``: the first time is that of the heading."""
    first, *others = times
    lines = [f"{first.strftime(form)}          {DISKS}"]
    for time in others:
        for device, (busy, written) in load(time).items():
            values = f"400.00    100.00 {written:9.2f}      0.00      1.00      7.50     17.50 {busy:9.2f}"
            lines.append(f"{time.strftime(form)} {device:>12} {values}")
    lines.append("Average:          sda    400.00    100.00      1.00      0.00      1.00      7.50     17.50   1.00")
    return HEAD.format(date=day) + "\n".join(lines) + "\n"


def every(begin: str, count: int, seconds: float) -> list[datetime]:
    """Return times at equal distances."""
    return [datetime.fromisoformat(begin) + timedelta(seconds=seconds * number) for number in range(count)]

"""``iosonde probe``: what the hardware gives: network, disks, memory, CPU time; kept for the models."""

from __future__ import annotations

from typing import Any

import click

from iosonde import campaign, report
from iosonde.cli.caller import caller
from iosonde.cli.options.types import Duration, SizeType
from iosonde.cli.output import emit, talk


@click.command(epilog="Example: iosonde probe --target /mnt/x --hosts nodes.txt --store results")
@click.option("--target", metavar="DIR", help="Directory on the disk to measure [default: no disk is measured].")
@click.option("--nodes", type=click.IntRange(1), metavar="N", help="How many nodes [default: all there are].")
@click.option("--hosts", metavar="FILE|NAMES", help="One host per line, or n1,n2; for mpirun.")
@click.option("--launcher", metavar="NAME", help="local, mpirun or slurm [default: what fits].")
@click.option("--servers", metavar="HOSTS", help="Measure the servers' own disks there: a file, or s1,s2.")
@click.option("--disk-dir", multiple=True, metavar="DIR", help="A directory on a disk of each server; may be repeated.")
@click.option("--repetitions", type=click.IntRange(1), default=6, metavar="N", show_default=True,
              help="How often everything is measured, with ranks started anew.")  # fmt: skip
@click.option("--size", type=SizeType(), default="256MiB", metavar="SIZE", show_default=True,
              help="What each node writes and reads on the disk.")  # fmt: skip
@click.option("--store", metavar="DIR", default="iosonde-store", show_default=True,
              help="Where the runs are kept (not on the target).")  # fmt: skip
@click.option("--idle-timeout", "idle_s", type=Duration(), default="2min", metavar="TIME", show_default=True,
              help="Give up when no rank gets on for so long.")  # fmt: skip
@click.option("--wait", type=Duration(), metavar="TIME", help="Wait so long where another iosonde measures here.")
@click.option("--alongside", is_flag=True, help="Measure though another iosonde measures on this machine.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def command(level: float, as_json: bool, **asked: Any) -> None:
    """Measure the network between every pair of nodes, disks, memory, CPU time.

    Writes only below TARGET/iosonde-<id>/, on servers DIR/iosonde-<id>/, and removes it afterwards. Every repetition is
    a run in the store; a campaign on these nodes keeps the newest probe with its own runs.
    """
    probe_result = campaign.probe.probe(campaign.probe.ProbeRequest(**asked), level, caller())
    emit(probe_result, report.text.probe.lines(probe_result), as_json)
    talk(f"stored in {probe_result.store}; results there against these limits: iosonde bound {probe_result.store}")
    probe_result.check()

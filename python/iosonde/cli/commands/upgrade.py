"""``iosonde upgrade``: what to buy, by gain, by money and by watt; and the change that would gain nothing."""

from __future__ import annotations

from functools import partial

import click

from iosonde import answers, report
from iosonde.cli.options.level import level_options
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, write_figure


@click.command(epilog="Example: iosonde upgrade cluster.yaml --order money")
@click.argument("cluster", metavar="CLUSTER.yaml")
@click.option("--order", type=click.Choice(["gain", "money", "watt"]), default="gain", show_default=True,
              help="Best by the gain itself, for each unit of money, or for each further watt.")  # fmt: skip
@click.option("--model", metavar="FILE", help="A model of 'iosonde fit': what it predicts stands beside the bound.")
@click.option("--plot", type=FigureFile(), metavar="FILE",
              help="Draw the cluster of today and what limits it: .png, .svg or .pdf.")  # fmt: skip
@level_options
def command(cluster: str, order: str, model: str | None, plot: str | None, level: float, as_json: bool) -> None:
    """Rank candidate changes of a cluster by their predicted gain.

    CLUSTER.yaml describes the cluster today, limits (money, power, space), and candidates. It may also hold tables of
    CPUs, of measured configurations, and marks of file systems.
    """
    upgrades = answers.upgrade.upgrade(answers.cluster.read_cluster(cluster), order, model, level)
    draw = partial(write_figure, plot, lambda: report.cluster_plot.cluster_plot(upgrades))
    emit(upgrades, report.text.upgrade.lines(upgrades), as_json, draw)

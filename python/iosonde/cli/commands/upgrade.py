"""``iosonde upgrade``: what to buy, by gain, by money and by watt; and the change that would gain nothing."""

from __future__ import annotations

import click

from iosonde.cli.options.level import level_options
from iosonde.cli.output import check_figure, emit, write_figure


@click.command(epilog="Example: iosonde upgrade cluster.yaml --order money")
@click.argument("cluster", metavar="CLUSTER.yaml")
@click.option("--order", type=click.Choice(["gain", "money", "watt"]), default="gain", show_default=True,
              help="Best by the gain itself, for each unit of money, or for each further watt.")  # fmt: skip
@click.option("--model", metavar="FILE", help="A model of 'iosonde fit': what it predicts stands beside the bound.")
@click.option("--plot", metavar="FILE", help="Draw the cluster of today and what limits it: .png, .svg or .pdf.")
@level_options
def command(cluster: str, order: str, model: str | None, plot: str | None, level: float, as_json: bool) -> None:
    """Rank candidate changes of a cluster by their predicted gain.

    CLUSTER.yaml describes the cluster today, limits (money, power, space), and candidates. It may also hold tables of
    CPUs, of measured configurations, and marks of file systems.
    """
    from iosonde.answers.cluster_file import read_cluster
    from iosonde.answers.upgrade import upgrade
    from iosonde.report.text.upgrade import lines

    if plot:
        check_figure(plot)
    made = upgrade(read_cluster(cluster), order, model, level)
    if plot:
        from iosonde.report.cluster_plot import cluster_plot

        write_figure(plot, cluster_plot(made))
    emit(made, lines(made), as_json)

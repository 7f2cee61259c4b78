"""``iosonde upgrade``: what to buy, by gain, by money and by watt."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import build_figure_writer
from iosonde.commands.result import Result
from iosonde.core.option_kinds import FigureFile
from iosonde.core.options import Choice, Text
from iosonde.data.options import LevelOptions

if TYPE_CHECKING:
    from .answer import Upgrade


@dataclass
class UpgradeOptions(LevelOptions):
    """Options of ``iosonde upgrade``."""

    cluster: Text[str] = Text(
        "CLUSTER.yaml", "The cluster today, limits and candidates.", is_argument=True, is_required=True
    )
    _: KW_ONLY
    order: Choice[str] = Choice(
        ("gain", "money", "watt"), "Best by the gain itself, for each unit of money, or for each further watt.", "gain"
    )
    model: Text[str | None] = Text("FILE", "A model of 'iosonde fit': what it predicts stands beside the bound.")
    plot: FigureFile[str | None] = FigureFile(
        "FILE", "Draw the cluster of today and what limits it: .png, .svg or .pdf."
    )


@command("upgrade", UpgradeOptions, "upgrade cluster.yaml --order money")
def upgrade(options: UpgradeOptions) -> Result[Upgrade]:
    """Rank candidate changes of a cluster by their predicted gain.

    CLUSTER.yaml describes the cluster today, limits (money, power, space), and candidates. It may also hold tables of
    CPUs, of measured configurations, and marks of file systems.

    Returns
    -------
    Result[Upgrade]
        One row a change; ``.plot()`` draws the cluster of today and what limits it.

    Examples
    --------
    >>> iosonde.upgrade("cluster.yaml", order="money")
    """
    from iosonde.answers.cluster import read_cluster

    from .answer import upgrade as answer
    from .figure import cluster_plot
    from .text import lines

    upgrades = answer(read_cluster(options.cluster), options.order, options.model, options.level)
    return Result(upgrades, lines, cluster_plot, build_figure_writer(options.plot, lambda: cluster_plot(upgrades)))

"""``iosonde regress``: least squares on raw repeats, with everything that says whether to believe it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis, build_figure_writer
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.option_kinds import FigureFile, Integer, SettingList
from iosonde.core.options import Choice, Data, Flag, NameList, Names, Value
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from .answer import LeastSquares

PLOTS = ("fit", "residuals", "order", "qq")


@dataclass
class RegressOptions(DataOptions):
    """Options of ``iosonde regress``."""

    data: Data = Data(
        "DATA…",
        "A store, a table (.csv, .xlsx, .parquet), a tool's outputs or their directory; in Python also a table in "
        "memory, or a dict as `sums`.",
        is_argument=True,
        is_repeatable=True,
    )
    response: Names[NameList] = Names(
        "Y,…",
        "What to explain: a column; of a store an operation or a metric; log(Y), Y/nodes.",
        (),
        default_text="the only one that was measured",
    )
    on: Names[NameList] = Names(
        "X,…",
        "Predictors: columns, log2(a), C(a) for its levels, a:b for an interaction.",
        (),
        default_text="a store's factors, a table's columns that look set",
    )
    _: KW_ONLY
    at: SettingList[tuple[Mapping[str, str], ...]] = SettingList(
        "X=V,…", "Predict there. Repeatable.", hint="write it as size=4096,fs=nfs"
    )
    new: Integer[int] = Integer("M", "Predict the mean of M new observations.", 1)
    robust: Flag[bool] = Flag("Standard errors that allow unequal variance (HC3).")
    without: Names[NameList] = Names(
        "LINE,…", "Fit again without these lines (runs), as S305 names them, or 'influential'; show both.", ()
    )
    sums: Value = Value(
        "FILE", "Instead of DATA: JSON with n, sum_x, sum_x2, b0, b1, SSR, SSE; in Python also a dict of these."
    )
    plot: FigureFile[str | None] = FigureFile("FILE", "The four diagnostic plots as .png, .svg or .pdf.")
    plot_kind: Choice[str | None] = Choice(PLOTS, "Only this one.")


@command("regress", RegressOptions, "regress runs.csv --response real_s --on replicas --at replicas=9")
def regress(options: RegressOptions) -> Result[LeastSquares]:
    """Explain a response by predictors, on the raw repeats.

    Shows the allocation of variation, the coefficients and the predictions with their intervals, and in words what
    speaks against the model.

    Returns
    -------
    Result[LeastSquares]
        One row a coefficient; ``.plot()`` draws the four diagnostic plots, ``.plot(kind="residuals")`` one of them.

    Examples
    --------
    >>> iosonde.regress("runs.csv", "real_s", "replicas", at={"replicas": 9})
    """
    from .figure import figure
    from .text import lines

    regression = _regress(options)
    return Result(
        regression, lines, figure, build_figure_writer(options.plot, partial(figure, regression, options.plot_kind))
    )


def _regress(options: RegressOptions) -> LeastSquares:
    from iosonde.answers.row_summaries import represent_trials

    from .answer import regress as answer

    if options.new > 1 and not options.at:
        raise InputError("option-requires-option", "{spell.new} is for {spell.at}", "say where: {spell.at:nodes=8}")
    if options.new < 1:
        raise InputError(
            "out-of-range",
            "{spell.new:{n_observations}} is below 1",
            "predict the mean of at least 1 observation",
            n_observations=options.new,
        )
    if isinstance(options.data, Mapping):
        return _regress_sums(options, options.data)
    if options.sums is not None:
        if options.data is not None:
            raise InputError("conflicting-options", "DATA and {spell.sums} are both given", "leave one out")
        return _regress_sums(options, options.sums)
    if options.data is None:
        raise InputError(
            "missing-data", "neither DATA nor {spell.sums} is given", "name a store, a table or a tool's output"
        )
    source = represent_trials(options.open_last_experiment(), options.query)
    announce_analysis("least squares", len(source.table), len(source.table.columns))
    return answer(source, options.query, options.at or (), options.new, options.robust, options.without or ())


def _regress_sums(options: RegressOptions, sums: Any) -> LeastSquares:
    from .answer import read_sums, regress_from_sums

    if options.without:
        raise InputError(
            "option-requires-data",
            "{spell.without}: sums hold no rows to leave out",
            "give DATA instead of {spell.sums}",
        )
    if isinstance(sums, Mapping):
        return regress_from_sums(sums, options.level, options.at or (), options.new)
    return regress_from_sums(read_sums(str(sums)), options.level, options.at or (), options.new, str(sums))

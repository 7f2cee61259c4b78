"""What to choose? Models that predict, how wrong they are on unseen rows, and advice with its measured gain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from iosonde.core.errors import InputError

from .result import Result
from .words import (
    DataOptions,
    LearningOptions,
    Names,
    Setting,
    check_choice,
    checked,
    conditions,
    names,
    open,
    open_last_experiment,
    takes,
    texts,
    within,
)

if TYPE_CHECKING:
    from iosonde.answers.advise import Advised, AdvisedEach
    from iosonde.answers.candidates import Learning
    from iosonde.answers.fit import Fitted
    from iosonde.answers.held_out import HoldoutAnswer
    from iosonde.answers.predict import Described, Predictions
    from iosonde.answers.validate import Validation
    from iosonde.model.fit.fitted import Model


@takes(LearningOptions)
def fit(
    data: Any,
    response: Names = None,
    on: Names = None,
    *,
    families: Names = None,
    constraints: Names = None,
    output: str | Path | None = None,
    **options: Unpack[LearningOptions],
) -> Result[Fitted]:
    """A model that predicts a response, the simplest of those that predict unseen rows best.

    Parameters
    ----------
    data : path, table or Source
    response : str
        What is predicted: a column; of a store an operation or metric; ``"log(Y)"``, ``"Y/nodes"``.
    on : str or sequence of str, optional
        The factors. Without it, of a store, those that were set.
    families : str or sequence of str, optional
        ``"auto"``, ``"linear"``, ``"tree depth=4"``; auto by default.
    constraints : str or sequence of str, optional
        What every setting fulfils, as ``"stripes <= servers"``.
    output : path, optional
        Keep the model here, as JSON that a person can read.
    **options
        ``terms`` of linear models, as ``"log2(a), C(b)"``; ``folds``: how many, 10 by default; ``together``: kept in
        one fold, ``"twins"`` (repeats and copies), ``"cells"`` (repeats) or ``"rows"`` (nothing); ``seed``. And
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Fitted]
        One row a model that was tried. :func:`predict`, :func:`describe` and :func:`held_out` take it as their model.
        ``.answer.rules`` are a tree's rules; ``.plot()`` draws predicted against observed.
    """
    from iosonde.answers.fit import fit as answer
    from iosonde.core.whole_file import replace_file
    from iosonde.report.fit_plots import fit_plot
    from iosonde.report.text.fit import lines

    source, query = open_last_experiment(data, response, on, options)
    fitted = answer(source, query, _build_learning(families, options), names(constraints, "constraints"))
    if output is not None:
        replace_file(Path(output), fitted.model_text().encode())
    return Result(fitted, lines, fit_plot)


def predict(
    model: str | Path | Result[Fitted], at: Setting | None = None, *, data: Any = None, level: float = 0.95
) -> Result[Predictions]:
    """What a model says of a setting, with an interval for one new trial there.

    Beyond what was tried it says so, and gives no interval; far beyond it gives nothing.

    Parameters
    ----------
    model : path or Result[Fitted]
        What ``fit`` gave, or the file that it wrote.
    at : mapping, optional
        The setting, as ``{"size": 4096, "fs": "nfs"}``.
    data : path, table or Source, optional
        Predict every row of this table instead.
    level : float, optional
        The confidence of the interval.

    Returns
    -------
    Result[Predictions]
        One row a setting.
    """
    from iosonde.answers.model_file import example
    from iosonde.answers.predict import predict as answer
    from iosonde.answers.predict import predict_rows
    from iosonde.report.text.predict import lines

    fitted = _load_model(model)
    if (at is None) == (data is None):
        raise InputError(
            "missing-setting" if at is None else "conflicting-options",
            "a setting is missing" if at is None else "a setting and data are both given",
            "give one of them, as at={example}",
            example=example(fitted),
        )
    if at is not None:
        return Result(answer(fitted, texts(at, "at"), checked(level)), lines)
    return Result(predict_rows(fitted, open(data), checked(level)), lines)


def describe(model: str | Path | Result[Fitted]) -> Result[Described]:
    """What a model is, how wrong, and which factors it follows.

    It is ``iosonde predict --describe``.

    Parameters
    ----------
    model : path or Result[Fitted]
        What ``fit`` gave, or the file that it wrote.

    Returns
    -------
    Result[Described]
        One row a factor.
    """
    from iosonde.answers.predict import described
    from iosonde.report.text.describe import lines

    return Result(described(_load_model(model), _name(model)), lines)


class FoldingOptions(LearningOptions, total=False):
    """How rows are left out: one of ``inverse`` (learn from one fold, be judged by the others), ``split`` (one split
    that learns from this share) and ``leave_out`` (a fold for every level of this factor)."""

    inverse: Annotated[bool, False]
    split: Annotated[float | None, None]
    leave_out: Annotated[str | None, None]


@takes(FoldingOptions)
def validate(
    data: Any,
    response: Names = None,
    on: Names = None,
    *,
    families: Names = None,
    curve: bool = False,
    **options: Unpack[FoldingOptions],
) -> Result[Validation]:
    """How wrong models are on rows that they have not seen, all on the same folds.

    Parameters
    ----------
    data : path, table or Source
    response : str
        What is predicted: a column; of a store an operation or metric; ``"log(Y)"``, ``"Y/nodes"``.
    on : str or sequence of str, optional
        The factors. Without it, of a store, those that were set.
    families : str or sequence of str, optional
        ``"auto"``, ``"linear"``, ``"tree depth=4"``; auto by default.
    curve : bool, optional
        Also the error by the number of rows to learn from.
    **options
        ``inverse``: learn from one fold, be judged by the others; ``split``: one split that learns from this share;
        ``leave_out``: a fold for every level of this factor; ``terms``, ``folds``, ``together``, ``seed`` as of
        :func:`fit`. And ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Validation]
        One row a model; ``.plot()`` draws predicted against observed, and the curve.

    See Also
    --------
    held_out : a model that is there already, judged by new data.
    """
    from iosonde.answers.validate import Folding
    from iosonde.answers.validate import validate as answer
    from iosonde.report.fit_plots import validation_plot
    from iosonde.report.text.validate import lines

    source, query = open_last_experiment(data, response, on, options)
    folding = Folding(options["inverse"], options["split"], options["leave_out"])
    return Result(answer(source, query, _build_learning(families, options), folding, curve), lines, validation_plot)


@takes(DataOptions)
def held_out(model: str | Path | Result[Fitted], data: Any, **options: Unpack[DataOptions]) -> Result[HoldoutAnswer]:
    """How wrong a model is on data that it has not seen, and how often its intervals held.

    It is ``iosonde validate --model``.

    Parameters
    ----------
    model : path or Result[Fitted]
        What ``fit`` gave, or the file that it wrote.
    data : path, table or Source
        Rows with the response and all factors, which the model must not have seen.
    **options
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[HeldOut]
        One row.
    """
    from iosonde.answers.held_out import held_out as answer
    from iosonde.answers.model_file import example
    from iosonde.report.text.validate import format_unseen_error

    fitted = _load_model(model)
    source, query = open_last_experiment(data, None, None, options, list(example(fitted)))
    return Result(answer(fitted, source, query.level), format_unseen_error)


class AdviseOptions(DataOptions, total=False):
    """How advice is judged. ``given`` None: of a store all other factors that were set."""

    given: Annotated[Names, None]
    better: Annotated[str | None, None]
    current: Annotated[Setting | None, None]
    workload: Annotated[Setting | None, None]
    depth: Annotated[int, 5]
    full: Annotated[bool, False]
    unweighted: Annotated[bool, False]
    against: Annotated[Any, None]


@takes(AdviseOptions)
def advise(
    data: Any, choose: Names, response: Names = None, **options: Unpack[AdviseOptions]
) -> Result[Advised | AdvisedEach]:
    """The best setting of ``choose`` for each workload, and what choosing it gains where it was not learned.

    Parameters
    ----------
    data : path, table or Source
    choose : str or sequence of str
        Columns that one may set.
    response : str, optional
        What to make better: a column; of a store an operation or metric; ``"log(Y)"``, ``"Y/nodes"``.
    **options
        ``given``: columns that describe the workload; of a store by default its others. ``better``: ``"higher"`` or
        ``"lower"``; by default as of the response. ``current``: the setting in use, as ``{"stripe_count": 4}``: the
        gain is then over it; by default what a campaign found before it set anything. ``workload``: what to set for
        this one, the ``--for`` of the command. ``depth``: at most so many questions; ``full``: all of them, not only
        those that are worth it; ``unweighted``: every instance counts alike. ``against``: new trials (DATA), which the
        promise is held against. And ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Advised | AdvisedEach]
        One row a setting, as a default for everything; of a store with several operations, of each.
        ``.answer.files("romio", {})`` are the rules as files of a system; ``.plot()`` draws the loss by the depth of
        the tree; both of one response.
    """
    from iosonde.answers.advise import Advising
    from iosonde.answers.advise import advise as answer
    from iosonde.report.figures.depth import figure
    from iosonde.report.text.advise import lines

    cells = () if options["given"] is None else (*names(choose, "choose"), *names(options["given"], "given"))
    source, query = open_last_experiment(data, response, None, options, cells)
    if options["better"] is not None:
        check_choice(options["better"], ("higher", "lower"), "better")
    within(options["depth"], 0, 12, "depth")
    current, workload, workload_columns = options["current"], options["workload"], options["given"]
    how = Advising(
        names(choose, "choose"),
        None if workload_columns is None else names(workload_columns, "given"),
        options["better"],
        None if current is None else texts(current, "current"),
        options["depth"],
        options["full"],
        not options["unweighted"],
    )
    workload_setting = None if workload is None else texts(workload, "workload")
    new = None if options["against"] is None else open(options["against"], conditions(options), options["experiment"])
    return Result(answer(source, query, how, workload_setting, new), lines, figure)


def _build_learning(families: Names, options: LearningOptions) -> Learning:
    from iosonde.answers.candidates import Learning

    family_names = names(families, "families")
    within(options["seed"], 0, 2**32 - 1, "seed")
    return Learning(family_names, options["terms"], options["folds"], options["together"], options["seed"])


def _load_model(model: Any) -> Model:
    """The model of a fit, or of a file. Raises InputError, DataError."""
    from iosonde.answers.fit import Fitted
    from iosonde.answers.model_file import read_model

    if isinstance(model, Result) and isinstance(model.answer, Fitted):
        return model.answer.choice.model
    if not isinstance(model, (str, Path)):
        raise InputError(
            "wrong-argument-type",
            "the model is given as {type_name}",
            "give what iosonde.fit gave, or its file",
            argument="model",
            type_name=type(model).__name__,
        )
    return read_model(str(model))


def _name(model: Any) -> str:
    return "the model" if isinstance(model, Result) else str(model)

"""What fit, predict and validate share: candidates as people write them, examples of DATA, model files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from iosonde.core.errors import DataError, InputError

from ._data import Source, open_data, split_names

if TYPE_CHECKING:
    from iosonde.model.fit.features import Examples, Feature
    from iosonde.model.fit.fitted import Model
    from iosonde.model.fit.validate import Candidate

_F = TypeVar("_F", bound=Callable[..., Any])


def data_options(command: _F) -> _F:
    """The options that say what is learned from, and how rows are kept together."""
    for option in (
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
                     help="Folds and forests are drawn from it."),
        click.option("--together", type=click.Choice(["twins", "cells", "rows"]), default="twins", show_default=True,
                     help="Kept in one fold: repeats and copies, only repeats, or nothing."),
        click.option("--folds", "n_folds", type=int, metavar="K", help="Number of folds; 10 by default."),
        click.option("--terms", metavar="T,…", help="Of linear models: log2(a), C(a), a:b, a*b. Default: the factors."),
        click.option("--on", metavar="X,…", help="The factors."),
        click.option("--response", metavar="Y", help="The column to predict."),
    ):  # fmt: skip
        command = option(command)
    return command


def open_examples(data: str, response: str | None, on: str | None, where: Sequence[str]) -> tuple[Source, Examples]:
    """The rows to learn from. Raises InputError where --response or --on is missing, DataError."""
    from iosonde.model.fit.features import examples

    source = open_data(data, where)
    for name, value in (("--response", response), ("--on", on)):
        if not value:
            raise InputError(f"{name} is missing", f"columns: {', '.join(source.table.names)}")
    assert response is not None
    return source, _with_units(source, examples(source.trials(response, split_names(on)), response, split_names(on)))


def _with_units(source: Source, found: Examples) -> Examples:
    """Of a store: with the units that its experiments and results know, which the columns' names do not say."""
    if source.store is None:
        return found
    known = source.factor_units()
    units = source.table.columns["unit"].codes()[1] if "unit" in source.table.columns else []
    return replace(
        found,
        features=tuple(replace(one, unit=one.unit or known.get(one.name, "")) for one in found.features),
        unit=str(units[0]) if found.response == "value" and len(units) == 1 else found.unit,
    )


def candidates(texts: Sequence[str], n_settings: int, terms: str | None) -> list[Candidate]:
    """``auto``, ``linear,tree``, ``tree depth=4 min_leaf=5`` → candidates, from the simplest. Raises InputError."""
    from iosonde.model.families import NAMES, checked
    from iosonde.model.fit.choose import auto
    from iosonde.model.fit.validate import Candidate

    found: list[Candidate] = []
    for text in texts or ("auto",):
        for part in [text] if "=" in text else split_names(text):
            name, *options = part.split()
            if name == "auto":
                found += auto(n_settings, terms or "")
                continue
            given = dict(_option(name, option) for option in options)
            if terms and "terms" in checked(name, {}):
                given = {"terms": terms, **given}
            checked(name, given)
            found.append(Candidate(name, given))
    if not found:
        raise InputError("no family is named", f"families: auto, {', '.join(NAMES)}")
    named = {candidate.name: candidate for candidate in found}
    order = list(named)
    return sorted(named.values(), key=lambda c: (NAMES.index(c.family), order.index(c.name)))


def check_terms(examples: Examples, found: Sequence[Candidate]) -> None:
    """Raises InputError or DataError where the terms of a candidate do not exist, or not for these rows."""
    from iosonde.model.families.linear import columns_of

    for terms in dict.fromkeys(str(one.options["terms"]) for one in found if "terms" in one.options):
        columns_of(examples, terms)


def _option(family: str, text: str) -> tuple[str, Any]:
    from iosonde.model.families import checked

    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"'{text}' is no option of a family", "write --family 'tree depth=4'")
    known = checked(family, {}).get(key, "")
    if isinstance(known, str):
        return key, value
    try:
        number = type(known)(value)
    except ValueError:
        raise InputError(f"{family} {key}={value} is not a number", f"write it like {key}={known or 4}") from None
    if not 0 <= number < 1e9:
        raise InputError(f"{family} {key}={value} is out of range", "use a number of 0 or more")
    return key, number


def read_model(path: str) -> Model:
    """A model file. Raises InputError, DataError."""
    from iosonde.model.fit.document import MOST_BYTES, from_text

    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "make one: iosonde fit DATA … -o FILE") from error
    return from_text(text, path)


def setting(features: Sequence[Feature], given: Mapping[str, Any]) -> dict[str, Any]:
    """Texts → values as the factors have them; a name may be written without its unit. Raises InputError."""
    known = {feature.name: feature for feature in features}
    read: dict[str, Any] = {}
    for name, value in given.items():
        full = full_name(features, name)
        if full in read:
            raise InputError(f"{full} is given twice", "give it once")
        read[full] = _number(value, known[full].unit) if full in known and known[full].numeric else _text(value)
    return read


def full_name(features: Sequence[Feature], name: str) -> str:
    """``size`` → ``size (KiB)``, where there is no factor ``size``; else the name as it is."""
    from iosonde.core.column_units import split_unit

    if name in [feature.name for feature in features]:
        return name
    return next((feature.name for feature in features if split_unit(feature.name)[0] == name), name)


def _number(value: Any, unit: str) -> Any:
    """The number that a text writes, in the factor's unit where it has one of its own (``4MiB`` of ``size (KiB)``); or
    the text, which is then refused by the model."""
    from iosonde.core.table import is_number

    if isinstance(value, (int, float)):
        return float(value)
    unit = "B" if unit.lower() in ("byte", "bytes") else unit
    text = value.removesuffix(unit).rstrip()
    return float(text) if text and is_number(text) else _converted(value, unit)


def _converted(text: str, unit: str) -> Any:
    from iosonde.core.units import parse_rate, parse_seconds, parse_size

    readers: tuple[Callable[[str], float], ...] = (parse_size, parse_rate, parse_seconds)
    for reader in readers if unit else ():
        try:
            return reader(text.replace(" ", "")) / reader(f"1{unit}")
        except (InputError, OverflowError):
            continue
    return text


def _text(value: Any) -> str:
    from iosonde.core.table import tidy

    return str(tidy(value)) if isinstance(value, float) else str(value)


def rows_of(model: Model, source: Source) -> tuple[list[dict[str, Any]], Any]:
    """Every row of a table as a setting of the model, and the table. Raises DataError for a missing cell."""
    from iosonde.core.column_units import split_unit
    from iosonde.core.table import tidy

    table = source.table if source.store is None else source.trials(model.response, [f.name for f in model.features])
    columns = [table.column(f.name if f.name in table.names else split_unit(f.name)[0]) for f in model.features]
    for column in columns:
        if column.missing.any():
            row = int(column.missing.argmax())
            raise DataError(f"{table.place(row)}, column '{column.name}': no value", "fill it, or leave the row out")
    rows = []
    for row in range(len(table)):
        cells = [tidy(float(c.values[row])) if c.numeric else c.values[row] for c in columns]
        rows.append({f.name: cell if f.numeric else str(cell) for f, cell in zip(model.features, cells, strict=True)})
    return rows, table

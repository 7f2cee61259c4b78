"""A model as text and back: JSON that a person can read, with its version, its schema and a hash of its content.

Reading one executes nothing. A text of another version, truncated or edited, is refused with one sentence: its numbers
would look like computed ones.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError, SchemaTooNewError

from ..families import import_family
from .calibration import Calibration
from .features import Feature
from .fitted import Model
from .repeats import Repeats

VERSION = 1
MOST_BYTES = 100 * 2**20
_DIGITS = 18  # of an integer: longer ones fit in no array
_AGAIN = "fit it again: iosonde fit DATA … -o FILE"


def to_text(model: Model) -> str:
    """Return the model file. Raises InputError if it would be too large to be read again."""
    content: dict[str, Any] = {
        "iosonde_model": VERSION,
        "family": model.family,
        "options": dict(model.options),
        "seed": model.seed,
        "response": {"name": model.response, "unit": model.unit, "low": model.low, "high": model.high},
        "factors": [feature.to_json() for feature in model.features],
        "constraints": list(model.constraints),
        "data": {"rows": model.rows, "settings": model.settings},
        "errors": dict(model.errors),
        "warnings": list(model.warnings),
        "form": dict(model.form),
        "interval": model.calibration.to_json() if model.calibration else None,
        "repeats": [repeat.to_json() for repeat in model.repeats],
        **({"interval_between": model.between.to_json()} if model.between else {}),
    }
    content["sha256"] = _compute_hash(content)
    # One line for each key, and for each entry of a long list: nodes, terms and settings are lines.
    text = _format_value(content, 0) + "\n"
    if len(text.encode()) > MOST_BYTES:
        raise InputError(
            "model-too-large",
            "the {family} model is larger than {limit_mib} MiB",
            "limit it: {spell.family:'forest depth=8'}, or fewer trees",
            family=model.name,
            limit_mib=MOST_BYTES >> 20,
        )
    return text


def from_text(text: bytes, source: str) -> Model:
    """The model of a file called ``source``. Raises DataError, SchemaTooNewError."""
    content = _parse_json(text, source)
    version = content.get("iosonde_model")
    if version is None:
        raise DataError(
            "not-a-model",
            "{source} is not a model of iosonde",
            "make one: iosonde fit DATA --response Y --on a,b -o FILE",
            source=source,
        )
    if isinstance(version, int) and version > VERSION:
        raise SchemaTooNewError(
            "unsupported-version",
            "{source} is a model of version {version}; this iosonde reads {supported_version}",
            "update iosonde, or fit it again",
            source=source,
            version=version,
            supported_version=VERSION,
        )
    if version != VERSION:
        raise DataError(
            "unsupported-version",
            "{source} is a model of version {version}; this iosonde reads {supported_version}",
            _AGAIN,
            source=source,
            version=version,
            supported_version=VERSION,
        )
    digest = content.pop("sha256", None)
    if not digest or digest != _compute_hash(content):
        raise DataError(
            "hash-mismatch",
            "{source} was changed after it was fitted: its content does not match its hash",
            _AGAIN,
            source=source,
        )
    _raise_if_not_model_schema({**content, "sha256": digest}, source)
    return _verify_prediction(_build_model(content), source)


def _parse_json(text: bytes, source: str) -> dict[str, Any]:
    if len(text) > MOST_BYTES:
        raise DataError(
            "file-too-large",
            "{source} is larger than {limit_mib} MiB, the limit of a model",
            "name a model file",
            source=source,
            limit_mib=MOST_BYTES >> 20,
        )
    try:
        content = json.loads(text.decode("utf-8"), parse_constant=_refuse_nonfinite_constant, parse_int=_parse_integer)
    except RecursionError as error:
        raise DataError(
            "nested-too-deep", "{source} is nested deeper than any model", "name a model file", source=source
        ) from error
    except ValueError as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise DataError(
            "invalid-json",
            "{source} is not whole JSON ({position})",
            _AGAIN,
            source=source,
            position=where,
        ) from error
    if not isinstance(content, dict):
        raise DataError("not-a-json-object", "{source} holds no JSON object", "name a model file", source=source)
    return content


def _refuse_nonfinite_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _parse_integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"{text[:_DIGITS]}… has more digits than any number of a model")
    return int(text)


def _compute_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical text; empty where there is none, as for a number beyond all numbers."""
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    except (ValueError, RecursionError):
        return ""


def _raise_if_not_model_schema(content: Mapping[str, Any], source: str) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    wrong = best_match(Draft202012Validator(_load_schema()).iter_errors(content))
    if wrong is not None:
        key = ".".join(str(part) for part in wrong.absolute_path) or "the file"
        raise DataError(
            "damaged-file",
            "{source}, {key}: {problem}",
            _AGAIN,
            source=source,
            key=key,
            problem=wrong.message[:200],
        )


@cache
def _load_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(files(__package__).joinpath("model.schema.json").read_text("utf-8"))
    return schema


def _build_model(content: Mapping[str, Any]) -> Model:
    response, interval = content["response"], content["interval"]
    return Model(
        content["family"],
        content["options"],
        content["seed"],
        tuple(Feature.from_json(factor) for factor in content["factors"]),
        response["name"],
        response["unit"],
        response["low"],
        response["high"],
        content["data"]["rows"],
        content["data"]["settings"],
        content["form"],
        Calibration.from_json(interval) if interval else None,
        content["errors"],
        tuple(content["warnings"]),
        tuple(content["constraints"]),
        tuple(Repeats.from_json(entry) for entry in content.get("repeats", ())),
        Calibration.from_json(content["interval_between"]) if "interval_between" in content else None,
    )


def _verify_prediction(model: Model, source: str) -> Model:
    """Return the model after it has predicted the two ends of the tried range. Raises DataError if its family cannot
    read its form."""
    module = import_family(model.family)
    ends = np.array(
        [
            [feature.low, feature.high] if feature.numeric else [0.0, len(feature.levels) - 1.0]
            for feature in model.features
        ]
    )
    try:
        with np.errstate(all="ignore"):
            prediction = module.predict(model.form, ends.T)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, MemoryError, ArithmeticError) as error:
        raise DataError(
            "damaged-file",
            "{source} holds no {family} model",
            _AGAIN,
            source=source,
            family=model.family,
        ) from error
    if np.shape(prediction) != (2,):
        raise DataError(
            "damaged-file",
            "{source} holds no {family} model",
            _AGAIN,
            source=source,
            family=model.family,
        )
    return model


def _format_value(value: Any, deep: int) -> str:
    inner, outer = "  " * (deep + 1), "  " * deep
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False) if deep >= 4 or _is_short(value) else ""
    if flat:
        return flat
    if isinstance(value, Mapping):
        rows = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_format_value(item, deep + 1)}"
            for key, item in value.items()
        ]
        return "{\n" + ",\n".join(rows) + f"\n{outer}}}"
    rows = [inner + _format_value(item, deep + 1) for item in value]
    return "[\n" + ",\n".join(rows) + f"\n{outer}]"


def _is_short(value: Any) -> bool:
    """A number, a text, or a list or object of such."""
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return not any(isinstance(item, (Mapping, list, tuple)) and item for item in items)

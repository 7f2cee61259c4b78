"""``run.json``: a Run without its tables, as readable text that detects its own damage.

Keys are sorted, the indent is 2. ``files`` holds size and SHA-256 of every sibling file. ``self_sha256`` is the SHA-256
of run.json itself with that value written as 64 zeros. JSON has no NaN and no infinity: they are written as
``{"$float": "nan"}``, ``"inf"`` or ``"-inf"``.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any

from iosonde.core.errors import DataError, InputError, SchemaTooNewError
from iosonde.core.schema import STORE_VERSION
from iosonde.core.types import Experiment, Factor, Finding, Observation, Role, Run, Severity, Trial

from .experiment_digest import SHA256, TRIALS, ExperimentDigest
from .run_schema import EXPERIMENT, check_types

SELF_SHA256 = "self_sha256"
_ZEROS = "0" * 64
_FIELDS = (
    "id",
    "experiment",
    "source",
    "started_at",
    "seconds",
    "seed",
    "factors",
    "facts",
    "phases",
    "missing",
)


def build_run_document(
    run: Run, files: dict[str, Any], versions: dict[str, str], stored_at: str, experiment: ExperimentDigest | None
) -> dict[str, Any]:
    """Return the content of run.json, without ``self_sha256``."""
    return {
        SHA256: experiment and experiment.sha256,
        TRIALS: experiment and experiment.trials,
        **{name: to_plain(getattr(run, name)) for name in _FIELDS},
        **({"row_settings": to_plain(run.row_settings)} if run.row_settings else {}),
        "complete": run.complete,
        "files": files,
        "findings": to_plain([finding.to_json() for finding in run.findings]),
        "headlines": to_plain(run.headlines),
        "operations": None if run.operations is None else len(run.operations),
        "schema_version": STORE_VERSION,
        "stored_at": stored_at,
        "versions": versions,
    }


def encode_sealed(document: dict[str, Any]) -> bytes:
    """Encode a document with its own ``self_sha256``."""
    text = encode({**document, SELF_SHA256: _ZEROS})
    digest = hashlib.sha256(text).hexdigest()
    return text.replace(_format_digest_line(_ZEROS), _format_digest_line(digest), 1)


def decode_sealed(text: bytes) -> dict[str, Any]:
    """Decode run.json. Raises DataError if damaged, SchemaTooNewError if newer than this iosonde."""
    document = decode(text)
    if not isinstance(document, dict) or not isinstance(document.get("schema_version"), int):
        raise DataError("not-a-run", "run.json does not describe a run")
    if document["schema_version"] > STORE_VERSION:
        raise build_too_new_error("run.json", document["schema_version"])
    if not is_sealed(text, document):
        raise DataError("checksum-mismatch", "run.json was changed after it was stored")
    if _FLOAT not in text:  # rare, and searching the document costs more than the rest
        return document
    try:
        numbers: dict[str, Any] = from_plain(document)
    except (RecursionError, TypeError, ValueError) as error:
        raise DataError("invalid-number", "run.json has an invalid number: {error}", error=error) from error
    return numbers


def is_sealed(text: bytes, document: Mapping[str, Any]) -> bool:
    """Return whether ``self_sha256`` of this document matches its text."""
    digest = str(document.get(SELF_SHA256, ""))
    return (
        hashlib.sha256(text.replace(_format_digest_line(digest), _format_digest_line(_ZEROS), 1)).hexdigest() == digest
    )


def build_too_new_error(document: str, version: int) -> SchemaTooNewError:
    """Return the error of a document whose schema is too new."""
    return SchemaTooNewError(
        "schema-too-new",
        "{document} has schema version {version}; this iosonde reads versions up to {newest}",
        "install a newer iosonde",
        document=document,
        version=version,
        newest=STORE_VERSION,
    )


def run_from_document(document: dict[str, Any], observations: list[Observation], raw: dict[str, bytes | Path]) -> Run:
    """Build the Run of a run.json and its sibling files, without its operations."""
    return Run(
        **{name: from_plain(document[name]) for name in _FIELDS},
        observations=observations,
        findings=[
            Finding(**{**item, "severity": Severity(item["severity"])}) for item in from_plain(document["findings"])
        ],
        headlines=from_plain(document.get("headlines") or {}),
        row_settings=from_plain(document.get("row_settings") or {}),
        raw=raw,
    )


def encode_experiment(experiment: Experiment) -> bytes:
    """Encode experiments/<id>.json."""
    return encode({"schema_version": STORE_VERSION, **to_plain(asdict(experiment))})


def decode_experiment(text: bytes, experiment_id: str) -> Experiment:
    """Decode the text of the Experiment with this id. Raises DataError, SchemaTooNewError."""
    document, name = decode(text), f"experiment {experiment_id}"
    try:
        check_types(document, EXPERIMENT)
        if document["id"] != experiment_id:
            raise DataError("id-mismatch", "it is experiment {experiment_id}", experiment_id=document["id"])
        version = document.pop("schema_version")
        if version > STORE_VERSION:
            raise build_too_new_error(name, version)
        content = from_plain(document)
        content["factors"] = [
            Factor(**{**item, "levels": tuple(item["levels"]), "role": Role(item["role"])})
            for item in content["factors"]
        ]
        content["trials"] = [Trial(**item) for item in content["trials"]]
        return Experiment(**content)
    except SchemaTooNewError:
        raise
    except (AttributeError, DataError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise DataError(
            "not-an-experiment",
            "{file} is not an experiment: {error}",
            "restore it from a copy, or remove it",
            file=name,
            error=error,
        ) from error


def encode(document: dict[str, Any]) -> bytes:
    """Encode as JSON with indent 2 and sorted keys. A lone surrogate (from a file name that is not UTF-8) becomes its
    JSON escape."""
    text = json.dumps(_sort_keys(document), indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")


def _sort_keys(document: dict[str, Any]) -> dict[str, Any]:
    """Sort the keys, so that two files can be compared; factors keep their order, set ones first."""
    factors = {"factors": document["factors"]} if isinstance(document.get("factors"), dict) else {}
    ordered: dict[str, Any] = json.loads(json.dumps(document, sort_keys=True, allow_nan=False))
    return ordered | factors


def decode(text: bytes) -> Any:
    """Decode the output of ``encode``. Raises DataError."""
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError("invalid-json", "it is not JSON: {error}", error=error) from error


def to_plain(value: Any) -> Any:
    """Convert ``value`` to JSON's types. Raises InputError if it has no JSON form."""
    if isinstance(value, (str, int, type(None))):  # bool is an int
        return str(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((to_plain(item) for item in value), key=repr)
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return to_plain(value.tolist())
    raise InputError(
        "unsupported-type",
        "cannot store a {type} in run.json",
        "use text, numbers, lists and dicts",
        type=type(value).__name__,
    )


_FLOAT = b"$float"  # marks a number that JSON does not have
_NESTED = (dict, list)  # others, which are most, need no call


def from_plain(value: Any) -> Any:
    """Convert back from ``to_plain``."""
    if isinstance(value, dict):
        if value.keys() == {"$float"}:
            return float(value["$float"])
        return {key: from_plain(item) if type(item) in _NESTED else item for key, item in value.items()}
    if isinstance(value, list):
        return [from_plain(item) if type(item) in _NESTED else item for item in value]
    return value


def _format_digest_line(digest: str) -> bytes:
    return f'\n  "self_sha256": "{digest}"'.encode()

"""The digest of its experiment in each run, so that a question cannot be changed after the answer is known.

It is the SHA-256 of the canonical JSON of ``experiments/<id>.json``, first without ``schema_version`` and ``trials``.
Then follows each trial that was planned when the run was stored. A campaign appends trials and changes nothing else.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

SHA256, TRIALS = "experiment_sha256", "experiment_trials"  # keys of run.json


class ExperimentDigest(NamedTuple):
    """The ``sha256`` of an experiment with its first ``trials`` trials."""

    sha256: str
    trials: int


def read_run_digest(run: Mapping[str, Any]) -> ExperimentDigest | None:
    """Return the digest in a run.json; None if it was written before digests existed."""
    return ExperimentDigest(run[SHA256], run[TRIALS]) if run.get(SHA256) else None


def digest_experiment(document: Mapping[str, Any]) -> ExperimentDigest:
    """Return the digest of the JSON of an experiment with all its trials."""
    trials = len(document["trials"])
    return ExperimentDigest(digest_first_trials(document, {trials})[trials], trials)


def digest_first_trials(document: Mapping[str, Any], counts: Collection[int]) -> dict[int, str]:
    """Return the digest for each count of first trials; '' for a count that the experiment does not have."""
    head = {key: value for key, value in document.items() if key not in ("schema_version", "trials")}
    digest = hashlib.sha256(_encode_canonical(head))
    digests = {0: digest.hexdigest()}
    for number, trial in enumerate(document["trials"], 1):
        digest.update(_encode_canonical(trial))
        if number in counts:
            digests[number] = digest.hexdigest()
    return {count: digests.get(count, "") for count in counts}


def _encode_canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"

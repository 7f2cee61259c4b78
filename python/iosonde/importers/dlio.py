"""DLIO, and MLPerf Storage, which runs it: ``summary.json`` and ``*per_epoch_stats.json``.

    "metric": {"train_au_percentage": [70.1, …], "train_io_mean_MB_per_second": 33870.9, …}

becomes ``train accelerator_utilization`` (a share), ``sample_rate_sum_of_ranks`` (samples/s) and
``bandwidth_sum_of_ranks``, DLIO's means over the epochs: each accelerator's own rate, added; "MB" and "GB" are 2^20 and
2^30 bytes, as DLIO calculates. The clock of training includes reading, decoding and the emulated computation, without
the first and last steps that DLIO's settings exclude. Epochs are parts of one execution, not trials: their values are
in ``facts.per_epoch``. Checkpoints: ``checkpoint_save`` and ``checkpoint_load``.

A per-epoch file has the times of epochs, blocks and checkpoints as one rank saw them, and of all ``epochs`` together.
Definitions: DLIO's ``statscounter.py``; MLPerf Storage's Rules.md, 3.3.2.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePath
from typing import Any

from iosonde.core.message import Message

from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import JsonDocument, Lines, get_json_object, number_from_json, read_json_runs
from .text import Text

NAME = "dlio"
HEADLINE = ("accelerator_utilization", "bandwidth")

_MIB, _GIB = 2.0**20, 2.0**30
_INCLUDES = "decode,compute"
# Key of a metric, without the operation before it: metric, factor, unit.
_MEANS = {
    "au_mean_percentage": ("accelerator_utilization", 0.01, ""),
    "au_stdev_percentage": ("accelerator_utilization_sd", 0.01, ""),
    "throughput_mean_samples_per_second": ("sample_rate_sum_of_ranks", 1.0, "samples/s"),
    "throughput_stdev_samples_per_second": ("sample_rate_sd", 1.0, "samples/s"),
    "io_mean_MB_per_second": ("bandwidth_sum_of_ranks", _MIB, "bytes/s"),
    "io_stdev_MB_per_second": ("bandwidth_sd", _MIB, "bytes/s"),
}
_CHECKPOINTS = {
    "io_mean_GB_per_second": ("bandwidth", _GIB, "bytes/s"),
    "io_stdev_GB_per_second": ("bandwidth_sd", _GIB, "bytes/s"),
    "duration_mean_seconds": ("time", 1.0, "s"),
    "duration_stdev_seconds": ("time_sd", 1.0, "s"),
}
_FACTORS = {
    "num_accelerators": "ranks",
    "num_hosts": "nodes",
    "num_files_train": "files",
    "num_files_eval": "files_eval",
    "num_samples_per_file": "samples_per_file",
}
_EPOCHS = re.compile(r'^\{\s*"\d+": \{\s*"start": "')
_RANK = re.compile(r"(?<!\d)(\d++)_per_epoch_stats")
_STEPS = {"block": "block", "eval": "eval", "save_ckpt": "checkpoint_save", "load_ckpt": "checkpoint_load"}


def claims(text: Text) -> Claim | None:
    """Recognise the keys that only DLIO writes, or the times of numbered epochs."""
    if text.first_line[:1] != "{":
        return None
    if occurrence := text.find(
        '"train_au_percentage"', '"num_accelerators"', '"save_checkpoint_io_mean_GB_per_second"'
    ):
        return Claim(CERTAIN, *occurrence)
    match = _EPOCHS.match(text.content[:400])
    return Claim(CERTAIN, text.line_of(match.end()), '"1": {"start": …') if match else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each document of the file."""

    def read_document(run: Parsed, document: JsonDocument, lines: Lines) -> None:
        at = lines.at(document.begin)
        if "metric" in document.value or "num_accelerators" in document.value:
            _Summary(run, document.value, lines, document.begin, document.end).read()
        elif all(str(key).isdecimal() and isinstance(value, dict) for key, value in document.value.items()):
            _read_epochs(run, document.value, at, text.name)
        else:
            run.lacks(at, Message("no-results", "it is neither a summary nor the times of epochs"))

    return read_json_runs(text, read_document)


class _Summary:
    def __init__(self, run: Parsed, document: dict[str, Any], lines: Lines, begin: int, end: int) -> None:
        self._run, self._document, self._lines, self._begin, self._end = run, document, lines, begin, end

    def read(self) -> None:
        """Read all of a ``summary.json``."""
        run, document, metrics = self._run, self._document, get_json_object(self._document, "metric")
        for key, factor in _FACTORS.items():
            value = number_from_json(document.get(key))
            if value is not None and (value or key != "num_files_eval"):
                run.factors[factor] = int(value)
        for key in ("hostname", "epochs", "host_memory_GB", "data_size_per_host_GB", "host_cpu_count"):
            if key in document and len(str(document[key])) < 4000:
                run.facts[key] = document[key]
        self._read_times()
        per_epoch: dict[str, list[float]] = {}
        for operation in ("train", "eval"):
            self._add_rows(operation, operation, metrics, _MEANS, _INCLUDES)
            per_epoch |= self._read_lists(operation, metrics)
            self._read_verdict(operation, metrics)
        for operation, prefix in (("checkpoint_save", "save_checkpoint"), ("checkpoint_load", "load_checkpoint")):
            self._add_rows(operation, prefix, metrics, _CHECKPOINTS, "")
        if (size := number_from_json(metrics.get("checkpoint_size_GB"))) is not None:
            run.facts["checkpoint_bytes"] = size * _GIB
        if per_epoch:
            run.facts |= {"per_epoch": per_epoch, "standard_deviation": "population"}
        if not run.rows:
            run.lacks(
                self._find_line("metric"),
                Message("no-results", "no metric: the run did not end, or only generated data"),
            )

    def _find_line(self, key: str) -> int:
        return self._lines.find_line(f'"{key}"', self._begin, self._end)

    def _read_times(self) -> None:
        run = self._run
        begin, end = _parse_moment(self._document.get("start")), _parse_moment(self._document.get("end"))
        if begin is not None:
            run.started_at = begin.isoformat(timespec="seconds")
        if end is None:
            run.lacks(self._find_line("start"), Message("ended-early", "no end: the run was interrupted"))
        elif begin is not None and end >= begin:
            run.seconds = (end - begin).total_seconds()

    def _add_rows(
        self,
        operation: str,
        prefix: str,
        metrics: dict[str, Any],
        columns: dict[str, tuple[str, float, str]],
        inside: str,
    ) -> None:
        for key, (metric, factor, unit) in columns.items():
            name = f"{prefix}_{key}"
            if name not in metrics:
                continue
            value = number_from_json(metrics[name])
            if value is None:
                self._run.lacks(
                    self._find_line(name), Message("invalid-number", "{metric} is not a number: left out", metric=name)
                )
            else:
                self._run.rows.append(
                    Row(operation, metric, value * factor, unit, self._find_line(name), includes=inside)
                )

    def _read_lists(self, operation: str, metrics: dict[str, Any]) -> dict[str, list[float]]:
        """Return each epoch's own values. Raises nothing; missing values become messages."""
        values_by_name: dict[str, list[float]] = {}
        for key in ("au_percentage", "throughput_samples_per_second"):
            values = metrics.get(f"{operation}_{key}")
            if not isinstance(values, list) or not values:
                continue
            values_by_name[f"{operation}_{key}"] = [
                number for value in values if (number := number_from_json(value)) is not None
            ]
            epochs = number_from_json(self._document.get("epochs"))
            if operation == "train" and epochs and len(values) != epochs:
                self._run.lacks(
                    self._find_line(f"{operation}_{key}"),
                    Message(
                        "missing-rows",
                        "{n_values} of {n_epochs:g} epochs have a value",
                        n_values=len(values),
                        n_epochs=epochs,
                    ),
                )
        return values_by_name

    def _read_verdict(self, operation: str, metrics: dict[str, Any]) -> None:
        key = f"{operation}_au_meet_expectation"
        if (verdict := metrics.get(key)) is not None:
            self._run.facts[key] = str(verdict)[:40]
            if verdict != "success":
                self._run.warn(
                    self._find_line(key),
                    Message(
                        "not-accepted",
                        "MLPerf Storage does not accept it: {field} is '{value}'",
                        field=key,
                        value=str(verdict)[:40],
                    ),
                )
        cached = self._document.get("potential_caching")
        if operation == "train" and isinstance(cached, list) and any(cached):
            self._run.warn(
                self._find_line("potential_caching"),
                Message(
                    "data-fits-memory",
                    "the data may fit into the memory of {hosts} (DLIO's own check)",
                    hosts=f"{sum(map(bool, cached))} of {len(cached)} hosts",
                ),
            )


def _read_epochs(run: Parsed, document: dict[str, Any], first: int, name: str) -> None:
    """Read the times of a per-epoch file. The file's name contains its rank; 0 otherwise."""
    match = _RANK.search(PurePath(name).name)
    rank = int(match.group(1)[:9]) if match else 0
    begins, ends = list[datetime](), list[datetime]()
    for epoch, times in document.items():
        begin, end = _parse_moment(times.get("start")), _parse_moment(times.get("end"))
        if end is None:
            run.lacks(first, Message("ended-early", "epoch {epoch} has no end: it was interrupted", epoch=epoch))
        begins += [begin] if begin else []
        ends += [end] if end else []
        run.rows += _iterate_epoch_rows(times, int(epoch) - 1 if 0 < len(epoch) < 9 else 0, rank, first)
    run.facts["epochs"] = len(document)
    if begins:
        run.started_at = min(begins).isoformat(timespec="seconds")
    if begins and ends and (seconds := (max(ends) - min(begins)).total_seconds()) >= 0:
        run.seconds = seconds
        run.rows.append(Row("epochs", "time", seconds, "s", first, includes=_INCLUDES))


def _iterate_epoch_rows(times: dict[str, Any], iteration: int, rank: int, at: int) -> Iterator[Row]:
    if (seconds := number_from_json(times.get("duration"))) is not None:
        yield Row("epoch", "time", seconds, "s", at, rank, max(iteration, 0), includes=_INCLUDES)
    for key, step in times.items():
        kind = next((name for start, name in _STEPS.items() if str(key).startswith(start)), None)
        if kind is None or not isinstance(step, dict):
            continue
        if (seconds := number_from_json(step.get("duration"))) is not None:
            yield Row(kind, "time", seconds, "s", at, rank, max(iteration, 0))
        if (speed := number_from_json(step.get("throughput"))) is not None:
            yield Row(kind, "bandwidth", speed * _GIB, "bytes/s", at, rank, max(iteration, 0))


def _parse_moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None

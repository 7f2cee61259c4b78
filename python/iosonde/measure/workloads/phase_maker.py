"""Conversion of a phase of the workload ``phases``: data as people write it → the plan of one rank, or the place of an
error."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from iosonde.core.errors import InputError
from iosonde.core.problems import suggest_replacement
from iosonde.core.units import parse_seconds
from iosonde.core.workload import Device, FileNames, Files, MixPart, Phase, Step
from iosonde.measure.collect.rates import name_buffered_write
from iosonde.measure.placeholders import fill
from iosonde.measure.workloads.settings import parse_integer

from .phase_plan import BANDWIDTH, RATE, PhasePlan
from .settings import Key, SettingError

READS = ("read", "mmap_read")
WRITES = ("write", "append", "mmap_write")
_MAKES = (*WRITES, "create", "truncate")
_DURABLE = ("fsync", "fdatasync", "close")
_DURABLE_FLAGS = ("sync", "dsync", "direct")
NO_FLAG = "buffered"  # for a factor whose other levels are flags
_STEP_KEYS = {field.name for field in fields(Step)} - {"ns"} | {"time"}
_SIZES = ("transfer_size", "base", "size")
_OURS = {"by", "timed", "measures", "counts", "backend", "wear_out", "time_limit", "min_nodes"}
_PHASE_KEYS = {field.name for field in fields(Phase)} - {"time_limit_ns"} | _OURS
_CHOICES = {
    "order": ("listed", "shuffled"),
    "on_error": ("stop", "continue"),
    "by": ("all", "first"),
    "measures": (RATE, BANDWIDTH),
}


class PhaseMaker:
    """Converter of a phase as data to its plan, with the path to any error."""

    def __init__(self, values: Mapping[str, int], path: tuple[str | int, ...]) -> None:
        self.values, self.path = values, path

    def plan(self, spec: Any, first_templates: set[str]) -> PhasePlan:
        """Return the plan of a phase. ``first_templates`` are the templates of files that rank 0 made in earlier
        phases; those of this phase are added. Raises SettingError."""
        self._check_keys((), spec, _PHASE_KEYS, ("name", "files", "steps"))
        for key, words in _CHOICES.items():
            if key in spec and spec[key] not in words:
                raise self._build_error(
                    (key,),
                    "unknown-option-value",
                    "'{choice}' is not one of {choices}",
                    choice=spec[key],
                    choices=", ".join(words),
                )
        steps = self._read_steps(spec["steps"])
        phase = Phase(
            name=str(spec["name"]),
            files=self._read_files(spec["files"]),
            steps=steps,
            order=spec.get("order", "listed"),
            passes=self._read_number(spec, "passes", 1, least=0),
            time_limit_ns=self._read_time(spec, "time_limit"),
            max_operations=self._read_number(spec, "max_operations"),
            on_error=spec.get("on_error", "stop"),
            arrival=spec.get("arrival"),
            open_flags=tuple(flag for flag in spec.get("open_flags", ()) if flag != NO_FLAG),
            content=spec.get("content", "incompressible"),
            verify=bool(spec.get("verify", False)),
            memory_size=self._read_number(spec, "memory_size"),
            alignment=self._read_number(spec, "alignment", 4096),
        )
        if phase.passes == 0 and not (phase.time_limit_ns or phase.max_operations):
            raise self._build_error(
                ("passes",), "endless-phase", "a phase of 0 passes never ends", "give time_limit or max_operations"
            )
        if spec.get("wear_out") and not phase.time_limit_ns:
            raise self._build_error(
                ("wear_out",), "missing-time-limit", "no time limit to continue from", "give time_limit too"
            )
        return self._build_plan(spec, phase, first_templates)

    def _build_plan(self, spec: Mapping[str, Any], phase: Phase, first_templates: set[str]) -> PhasePlan:
        kinds = list_kinds_of_steps(phase.steps)
        moving = [kind for kind in kinds if kind in (*READS, *WRITES)]
        measures = spec.get("measures", BANDWIDTH if moving else RATE)
        counted = spec.get("counts") or _choose_counted(measures, kinds, moving)
        if counted not in kinds:
            raise self._build_error(
                ("counts",),
                "unknown-step",
                "no step is a {kind}",
                "there are: {kinds}",
                kind=counted,
                kinds=", ".join(kinds),
            )
        if measures == BANDWIDTH and counted not in moving:
            raise self._build_error(
                ("measures",), "no-bytes-moved", "{kind} moves no bytes", "measure its rate", kind=counted
            )
        where = _name_place(phase.files)
        first_only = spec.get("by") == "first"
        if first_only:
            first_templates.add(where)
        changed = set() if any(step.kind == "create" and step.to for step in phase.steps) else set(kinds) & set(_MAKES)
        only_reads = set(kinds) & set(READS) and not changed
        reads = (phase.files,) if only_reads and isinstance(phase.files, Files) else ()
        return PhasePlan(
            operation=_name_operation(phase, counted, kinds),
            phase=None if first_only and self.values["RANK"] else phase,
            measures=measures,
            counted_kind=counted,
            timed=bool(spec.get("timed", True)),
            reads=reads,
            shared=bool(only_reads) and where in first_templates,
            backend=self._read_backend(spec.get("backend", "posix")),
            wears_out=bool(spec.get("wear_out", False)),
            min_nodes=self._read_number(spec, "min_nodes", 1),
        )

    def _read_files(self, spec: Any) -> Files | FileNames | Device:
        if isinstance(spec, str):
            return Files(self._fill_text(spec))
        if isinstance(spec, dict) and "device" in spec:
            self._check_keys(("files",), spec, {"device"}, ())
            return Device(str(spec["device"]))
        if isinstance(spec, dict) and "names" in spec:
            self._check_keys(("files",), spec, {"names"}, ())
            return FileNames(tuple(self._fill_text(name) for name in spec["names"]))
        self._check_keys(("files",), spec, {"template", "count", "first", "suffix"}, ("template",))
        return Files(
            self._fill_text(spec["template"]),
            self._read_number(spec, "count", 1, at=("files",)),
            self._read_number(spec, "first", 0, at=("files",), least=0),
            spec.get("suffix"),
        )

    def _read_steps(self, spec: Any) -> tuple[Step, ...]:
        if not isinstance(spec, (list, tuple)) or not spec:
            raise self._build_error(("steps",), "no-steps", "no steps", "give a list, as [create, write, fsync, close]")
        return tuple(self._read_step(("steps", place), step) for place, step in enumerate(spec))

    def _read_step(self, at: tuple[str | int, ...], spec: Any) -> Step:
        from iosonde.engine import _native

        spec = {"kind": spec} if isinstance(spec, str) else spec
        self._check_keys(at, spec, _STEP_KEYS, ("kind",))
        kind = spec["kind"]
        if kind != "mix" and kind not in _native.KINDS:
            raise self._build_error(
                (*at, "kind"),
                "unknown-operation",
                "unknown operation '{operation}'",
                "{suggestion}",
                operation=kind,
                suggestion=suggest_replacement(str(kind), (*_native.KINDS, "mix")),
            )
        if kind in (*READS, *WRITES) and "transfer_size" not in spec:
            raise self._build_error(
                at,
                "missing-key",
                "{kind} needs a {key}",
                "give the bytes of one operation, as 1MiB",
                kind=kind,
                key="transfer_size",
            )
        sizes = {
            key: self._read_number(spec, key, at=at, least=0 if key == "base" else 1) for key in _SIZES if key in spec
        }
        parts = spec.get("of")
        return Step(
            kind=kind,
            **sizes,
            count=self._read_number(spec, "count", at=at),
            offsets=self._read_pattern(spec, "offsets", at),
            memory=self._read_pattern(spec, "memory", at),
            to=self._read_to(spec.get("to"), kind, at),
            ns=self._read_time(spec, "time", at),
            ns_per_byte=spec.get("ns_per_byte"),
            of=self._read_mix(parts, at) if parts is not None or kind == "mix" else None,
            sieve=self._read_sieve(spec.get("sieve"), (*at, "sieve")),
        )

    def _read_sieve(self, spec: Any, at: tuple[str | int, ...]) -> dict[str, int] | None:
        if spec is None:
            return None
        self._check_keys(at, spec, {"buffer"}, ("buffer",))
        return {"buffer": self._read_number(spec, "buffer", at=at)}

    def _read_mix(self, parts: Any, at: tuple[str | int, ...]) -> tuple[MixPart, ...]:
        if not isinstance(parts, (list, tuple)) or not parts:
            raise self._build_error(
                (*at, "of"), "no-parts", "a mix needs parts", "write of: [{{weight: 7, step: {{kind: read, …}}}}, …]"
            )
        mix_parts = []
        for place, part in enumerate(parts):
            here = (*at, "of", place)
            self._check_keys(here, part, {"weight", "step"}, ("weight", "step"))
            step = self._read_step((*here, "step"), part["step"])
            mix_parts.append(MixPart(self._read_number(part, "weight", at=here), step))
        return tuple(mix_parts)

    def _read_to(self, spec: Any, kind: str, at: tuple[str | int, ...]) -> str | int | None:
        if kind == "truncate":
            return cast("int | None", self._read_number({"to": spec}, "to", at=at, least=0))
        return None if spec is None else self._fill_text(str(spec))

    def _read_pattern(self, spec: Mapping[str, Any], key: str, at: tuple[str | int, ...]) -> Any:
        pattern = spec.get(key)
        if not isinstance(pattern, dict):
            return pattern
        for name, values in pattern.items():
            if not isinstance(values, dict):
                raise self._build_error(
                    (*at, key, name),
                    "not-a-mapping",
                    "expected keys with values, found {setting!r}",
                    "see docs/workload.md, or give the pattern's name alone",
                    setting=values,
                )
        return {
            name: {inner: self._read_number(values, inner, at=(*at, key, name), least=0) for inner in values}
            for name, values in pattern.items()
        }

    def _read_backend(self, spec: Any) -> dict[str, Any]:
        backend = {"name": spec} if isinstance(spec, str) else spec
        if not isinstance(backend, dict) or backend.get("name") not in ("posix", "io_uring"):
            raise self._build_error(
                ("backend",),
                "unknown-backend",
                "unknown back end",
                "write posix, or {{name: io_uring, queue_depth: 32}}",
            )
        depth = (
            {"queue_depth": self._read_number(backend, "queue_depth", at=("backend",))}
            if "queue_depth" in backend
            else {}
        )
        return {**backend, **depth}

    def _fill_text(self, text: Any) -> str:
        return fill(str(text), self.values)

    def _read_number(
        self, spec: Any, key: str, default: Any = None, at: tuple[str | int, ...] = (), least: int = 1
    ) -> Any:
        value = spec.get(key, default) if isinstance(spec, dict) else spec
        if value is None:
            return None
        try:
            number = parse_integer(self._fill_text(value) if isinstance(value, str) else value)
        except InputError as error:
            raise SettingError.from_error((*self.path, *at, key), error) from None
        if number < least:
            raise self._build_error(
                (*at, key),
                "out-of-range",
                "{number} is less than {minimum}",
                "it must be at least {minimum}",
                number=number,
                minimum=least,
            )
        return number

    def _read_time(self, spec: Mapping[str, Any], key: str, at: tuple[str | int, ...] = ()) -> int | None:
        if spec.get(key) is None:
            return None
        try:
            return round(parse_seconds(spec[key]) * 1e9)
        except InputError as error:
            raise SettingError.from_error((*self.path, *at, key), error) from None

    def _check_keys(self, at: tuple[str | int, ...], spec: Any, allowed: set[str], needed: tuple[str, ...]) -> None:
        if not isinstance(spec, dict):
            raise self._build_error(at, "not-a-mapping", "expected keys with values, found {setting!r}", setting=spec)
        for key in spec:
            if key not in allowed:
                raise self._build_error(
                    (*at, key),
                    "unknown-key",
                    "unknown key",
                    "{suggestion}",
                    suggestion=suggest_replacement(str(key), sorted(allowed)),
                    key=key,
                )
        for key in needed:
            if key not in spec:
                raise self._build_error(at, "missing-key", "the key '{key}' is missing", key=key)

    def _build_error(
        self, at: Key, code: str, message: str, hint: str = "see docs/experiment.md", /, **values: object
    ) -> SettingError:
        return SettingError((*self.path, *at), code, message, hint, **values)


def list_kinds_of_steps(steps: tuple[Step, ...]) -> list[str]:
    """Return the kinds of operation of steps, including those inside a mix, each once."""
    parts = (part.step for step in steps for part in step.of or (MixPart(1, step),))
    return list(dict.fromkeys(part.kind for part in parts))


def _name_place(files: Files | FileNames | Device) -> str:
    """Return the name that distinguishes a group of files."""
    if isinstance(files, Files):
        return files.template
    return files.names[0] if isinstance(files, FileNames) else files.device


def _choose_counted(measures: str, kinds: list[str], moving: list[str]) -> str:
    """Choose the counted kind: bytes count for the first kind that moves any, a rate for whole files if they are
    closed."""
    if measures == BANDWIDTH and moving:
        return moving[0]
    if moving:
        return "close" if "close" in kinds else moving[0]
    return kinds[0]


def _name_operation(phase: Phase, counted: str, kinds: list[str]) -> str:
    """Name the operation; a write that nothing makes durable is called buffered."""
    durable = set(kinds) & set(_DURABLE) or set(phase.open_flags) & set(_DURABLE_FLAGS)
    return (
        phase.name if counted not in WRITES or durable or "buffered" in phase.name else name_buffered_write(phase.name)
    )

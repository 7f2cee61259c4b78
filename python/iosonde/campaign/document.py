"""A request as one document: an experiment file, a bare command, or the envelope, plus the options.

An option overrides the key of its name. The origin of each value is recorded for error messages.
"""

import difflib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iosonde.agreement import claims
from iosonde.core import decision, questions, yaml_text
from iosonde.core.errors import InputError
from iosonde.core.faults import NONE
from iosonde.core.message import Message, spell
from iosonde.core.problems import suggest_replacement
from iosonde.core.yaml_text import Document
from iosonde.foreign.reach import check_reachable
from iosonde.ranks.machine import emulated

from . import benchmarks, experiment_plugins, extent, targets
from .native import build_native_document
from .request import Request
from .spec import check, faults, file, lab

SUFFIXES = (".yaml", ".yml", ".json")
# Stored with the settings of an experiment, but not part of it.
EXTRA_KEYS = (decision.KEY, "file", questions.KEY)
QUICK = {"repetitions": 2, "small_files": 200, "large_file_size": 16 * 2**20}
_KEYS = (
    "nodes",
    "ranks_per_node",
    "repetitions",
    "until",
    "budget",
    "launcher",
    "hosts",
    "reserve",
    "store",
    "name",
    "seed",
    "max_bytes",
    "max_files",
    "max_seconds",
    "max_operations",
    "trial_timeout",
    "idle_timeout",
    "pace",
    "abort_if",
    "incomplete",
)
# Similarity to a factor's name from which on a name is a typo.
_SLIP = 0.75
# Option → setting of the envelope.
_ENVELOPE = {
    "small_files": "small_files",
    "small_size": "small_file_size",
    "large_files": "large_files",
    "large_size": "large_file_size",
    "transfer_size": "transfer_size",
    "direct": "direct",
    "verify": "verify",
    "shared_writes": "shared_writes",
}


def build_document(request: Request, say: Callable[[str], None] = lambda _: None) -> Document:
    """Build the document of the options, not yet checked. ``say`` receives notes for the user. Raises InputError."""
    source = _read_source(request, say)
    document = extent.apply_extent(source, request.quick, request.full)
    if benchmarks.KEY in document.data:
        document = Document(benchmarks.merge_benchmark(document.data), document.name, document.places, document.text)
    if "steps" not in document.data:
        document = file.modernize_document(document)
    _put_targets(document, request.target)
    for key in _KEYS:
        if (value := getattr(request, key)) is not None:
            _put_option(document, key, list(value) if isinstance(value, tuple) else value, key)
    _put_against(document, request)
    _put_find(document, request)
    ready = request.what is not None and experiment_plugins.is_plugin_experiment(request.what)
    ready = (
        ready or not {"against", "find"}.isdisjoint(document.data) or "repetitions" in source.data.get(extent.QUICK, {})
    )
    if request.quick and request.repetitions is None and not ready:
        _put_option(document, "repetitions", QUICK["repetitions"], "quick")
    for key in ("before_reads", "between_trials"):
        if (value := getattr(request, key)) is not None:
            _put_cache(document, key, value)
    _put_settings(document, request)
    if request.fake is not None:
        _put_machine(document, request.fake)
    for words in request.set:
        _put_levels(document, words, say)
    return document if request.in_lab else _remove_lab(document, say)


def _remove_lab(document: Document, say: Callable[[str], None]) -> Document:
    """Return the document for measuring here: outside a lab, its lab section is omitted if there is a target."""
    if lab.KEY not in document.data or emulated.read_lab() is not None:
        return document
    if not {"target", "targets"} & document.data.keys():
        name = document.name or "FILE"
        raise InputError(
            "lab-required",
            "{name} needs a lab, and this machine is not in one",
            "iosonde lab run {name}; or measure a real system with {spell.target:DIR}",
            name=name,
        )
    if fault_keys := [key for key in (faults.KEY, faults.SETTLE) if key in document.data]:
        if not faults.is_without_faults(document.data):
            raise _create_lab_required_error(document, fault_keys)
        del document.data[faults.KEY]
    say(Message("no-lab", "note: not in a lab: ignoring the section lab of the experiment"))
    return lab.remove_lab(document)


def _create_lab_required_error(document: Document, keys: list[str]) -> InputError:
    name, both = document.name or "FILE", " and ".join(keys)
    spared = [
        f"{spell.set:{factor}={NONE}}" for factor in faults.list_sparing_factors(document.data) if keys == [faults.KEY]
    ]
    return InputError(
        "lab-required",
        "{name}: {keys} need a lab, and this machine is not in one",
        "iosonde lab run {name}; or {options}",
        name=name,
        keys=both,
        options=" ".join(spared) or f"leave {both} out",
    )


def is_file(word: str) -> bool:
    """Return whether an argument is an experiment file rather than a command."""
    path = Path(word)
    if path.suffix not in SUFFIXES:
        return False
    check_reachable(path)
    return path.exists() or not any(char.isspace() for char in word)


def _read_source(request: Request, say: Callable[[str], None]) -> Document:
    what, spec_file = request.what, request.file
    if request.native:
        return build_native_document(request, say)
    if what is not None and spec_file is not None:
        raise InputError(
            "conflicting-options",
            "two things to measure: '{command}' and {spell.file:{path}}",
            "give one of them",
            command=what,
            path=spec_file,
        )
    if what is not None and is_file(what):
        spec_file = what
    if spec_file is not None:
        _refuse_command_options(request)
        return resolve_claims(_unwrap_stored(yaml_text.load(_check_exists(Path(spec_file)))), Path(spec_file).parent)
    if what is not None and benchmarks.is_benchmark(what):
        _refuse_command_options(request)
        return Document(benchmarks.find_benchmark(what), what)
    if what is not None and experiment_plugins.is_plugin_experiment(what):
        _refuse_command_options(request)
        return Document(experiment_plugins.find_experiment(what, request.set, request.quick), what)
    if what is not None:
        if not what.strip():
            raise InputError(
                "empty-command",
                "the command is empty",
                "give a command, an experiment file, or {spell.target:DIR} alone",
            )
        step = {"command": what, "parse": request.parse or "auto"} | ({"on": request.on} if request.on else {})
        words = {"parse": f"{spell.parse}", "on": f"{spell.on}", "command": "the command"}
        return Document({"steps": [step]}, "", {("steps", 0, key): word for key, word in words.items()})
    _refuse_command_options(request)
    if not request.target:
        raise InputError(
            "missing-target",
            "nothing to measure",
            "give {spell.target:DIR}, an experiment file, or a command in quotes",
        )
    return Document({"steps": [{"workload": "envelope"}]})


def resolve_claims(document: Document, folder: Path) -> Document:
    """Read the published numbers that questions select, from documents in ``folder``. Raises InputError, SpecError."""
    entries = document.data.get(questions.KEY)
    for entry in entries if isinstance(entries, list) else ():
        claims_of_entry = entry.get(claims.KEY) if isinstance(entry, dict) else None
        if isinstance(claims_of_entry, list) and all(isinstance(claim, dict) for claim in claims_of_entry):
            entry[claims.KEY] = [claims.resolve_claim(claim, folder) for claim in claims_of_entry]
    return document


def _check_exists(path: Path) -> Path:
    check_reachable(path)
    if path.is_file():
        return path
    if path.exists():
        raise InputError("not-a-file", "{path} is not a file", "give the path of an experiment file", path=path)
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    names = [entry.name for entry in entries if entry.suffix in SUFFIXES]
    if near := difflib.get_close_matches(path.name, names, n=1):
        raise InputError(
            "no-such-file", "{path} does not exist", "did you mean {suggestion}?", path=path, suggestion=near[0]
        )
    raise InputError(
        "no-such-file",
        "{path} does not exist",
        "give the path of an experiment file, or a command with its words in quotes",
        path=path,
    )


def _unwrap_stored(document: Document) -> Document:
    """Unwrap an experiment as stored (``experiments/ID.json``) to the document of its request."""
    data = document.data
    if not {"settings", "trials", "created_at"} <= data.keys() or not isinstance(data["settings"], dict):
        return document
    settings = {k: v for k, v in data["settings"].items() if k not in EXTRA_KEYS or k == questions.KEY}
    places = {path[1:]: place for path, place in document.places.items() if path[:1] == ("settings",)}
    return Document(settings, document.name, places, document.text)


def _refuse_command_options(request: Request) -> None:
    for option in ("on", "parse"):
        if getattr(request, option) is not None:
            raise InputError(
                "option-not-applicable",
                "{flag} is for a bare command",
                "in a file set it for each step: docs/experiment.md",
                option=option,
                flag=_format_flag(option),
            )


def _format_flag(option: str) -> str:
    return f"{getattr(spell, option)}"


def _put_option(document: Document, key: str, value: Any, option: str) -> None:
    document.data[key] = value
    _set_origin(document, (key,), option)


def _put_targets(document: Document, words: tuple[str, ...]) -> None:
    """Put the targets: a single unnamed directory is the key ``target``; several, or a named one, are ``targets``."""
    if not words:
        return
    directories = targets.parse_targets(words)
    key, other = ("target", "targets") if "" in directories else ("targets", "target")
    document.data.pop(other, None)
    _put_option(document, key, directories.get("", directories), "target")


def _set_origin(document: Document, path: yaml_text.Key, option: str, value: str = "") -> None:
    for old in [old for old in document.places if old[: len(path)] == path]:
        del document.places[old]
    document.places[path] = format(getattr(spell, option), value)


def _put_cache(document: Document, key: str, value: str) -> None:
    cache = document.data.get("cache", {})
    regime = {"between_trials": cache} if isinstance(cache, str) else dict(cache) if isinstance(cache, dict) else {}
    if key == "between_trials":
        regime = {name: text for name, text in regime.items() if name == "before_reads"}
    document.data["cache"] = regime | {key: value}
    _set_origin(document, ("cache", key), key)


def _put_against(document: Document, request: Request) -> None:
    """Replace the command that a file compares with by ``--against``; the other options replace keys of its section."""
    keys = ("a_name", "b_name", "margin", *(() if _is_race(document, request) else ("metric",)))
    options = {key: value for key in keys if (value := getattr(request, key)) is not None}
    if request.fail_if:
        options["fail_if"] = list(request.fail_if)
    section = document.data.get("against", {})
    section = {"command": section} if isinstance(section, str) else section if isinstance(section, dict) else {}
    if request.against is not None:
        section = {key: value for key, value in section.items() if key != "factor"} | {"command": request.against}
    if options and not section:
        option = next(iter(options))
        raise InputError(
            "option-requires-option",
            "{flag} needs a comparison, and nothing is compared",
            "give {spell.against:'COMMAND'}",
            option=option,
            flag=_format_flag(option),
        )
    if request.against is not None or options:
        _put_option(document, "against", section | options, "against")


def _is_race(document: Document, request: Request) -> bool:
    return request.find is not None or "find" in document.data


def _put_find(document: Document, request: Request) -> None:
    """Put the race of the options; each replaces a key of the file's section."""
    keys = ("within", "sure", *(("metric",) if _is_race(document, request) else ()))
    options = {key: value for key in keys if (value := getattr(request, key)) is not None}
    if options and not _is_race(document, request):
        option = next(iter(options))
        raise InputError(
            "option-requires-option",
            "{flag} needs a race, and nothing is searched for",
            "give {spell.find:best}",
            option=option,
            flag=_format_flag(option),
        )
    if request.find is not None or options:
        section = document.data.get("find", {})
        _put_option(document, "find", (section if isinstance(section, dict) else {}) | options, "find")


def _put_settings(document: Document, request: Request) -> None:
    """Put the settings of native workloads; a size given by an option is not reduced by ``--quick``."""
    envelope_options = {option: value for option in _ENVELOPE if (value := getattr(request, option)) is not None}
    steps = document.data.get("steps")
    mappings = [
        (place, step) for place, step in enumerate(steps if isinstance(steps, list) else ()) if isinstance(step, dict)
    ]
    envelopes = [(place, step) for place, step in mappings if step.get("workload") == "envelope"]
    for place, step in envelopes:
        if request.quick:
            step |= {key: value for key, value in QUICK.items() if key != "repetitions"}
        for option, value in envelope_options.items():
            step[_ENVELOPE[option]] = value
            _set_origin(document, ("steps", place, _ENVELOPE[option]), option)
    if envelope_options and not envelopes:
        option = next(iter(envelope_options))
        raise InputError(
            "option-not-applicable",
            "{flag} is a setting of the envelope, but no step is one",
            "leave it out; for a factor of the file write {spell.set:FACTOR=LEVEL}",
            option=option,
            flag=_format_flag(option),
        )
    if request.cache is not None:
        native = [(place, step) for place, step in mappings if "workload" in step]
        if not native:
            raise InputError(
                "option-not-applicable",
                "{spell.cache} is for native workloads, but no step is one",
                "see {spell.between_trials}",
                option="cache",
            )
        for place, step in native:
            step["cache"] = request.cache
            _set_origin(document, ("steps", place, "cache"), "cache")


def _put_machine(document: Document, machine: str) -> None:
    """Use a simulated machine instead of the target. Raises InputError if no step can run on one."""
    steps = document.data.get("steps")
    studies = [
        (place, step)
        for place, step in enumerate(steps if isinstance(steps, list) else ())
        if isinstance(step, dict) and step.get("workload") == experiment_plugins.PATH_STUDY
    ]
    if not studies:
        raise InputError(
            "option-not-applicable",
            "{spell.fake} is for the path study, but no step is one",
            "as: iosonde run path-study --fake lock",
            option="fake",
        )
    for place, step in studies:
        step["machine"] = machine
        _set_origin(document, ("steps", place, "machine"), "fake")
    if not {"target", "targets"} & document.data.keys():
        _put_option(document, "target", str(_get_empty_target()), "fake")


def _get_empty_target() -> Path:
    """Return an empty directory of this user: a simulated machine stores no data, but every trial has its directory."""
    place = Path(tempfile.gettempdir()) / f"iosonde-machines-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    return place


def _put_levels(document: Document, words: str, say: Callable[[str], None]) -> None:
    """Set other levels by ``FACTOR=A,B``; the file's set and read commands stay. A new factor with one unused level is
    a label: it distinguishes this campaign, and changes nothing in it."""
    name, equals, levels = words.partition("=")
    if not equals or not name or not levels:
        raise InputError(
            "invalid-assignment",
            "{spell.set:{assignment}}: this is not FACTOR=LEVEL,LEVEL",
            "write it like {spell.set:stripe_count=1,4}",
            assignment=words,
        )
    if name in ("nodes", "ranks_per_node"):
        raise InputError(
            "not-a-factor",
            "{spell.set:{assignment}}: {name} is not a factor of the file",
            "write {flag}",
            assignment=words,
            name=name,
            flag=_format_flag(name),
        )
    factors = document.data.setdefault("factors", {})
    if not isinstance(factors, dict):
        return
    # An empty level among others means an absent flag: --set 'F=,-F'.
    read = ["" if not level else yaml_text.parse_scalar(level, f"{spell.set:{name}}") for level in levels.split(",")]
    if name not in factors and name not in check.find_used_names(document.data):
        _check_label(document, words, name, len(read))
        say(Message("label", "note: {label} is a label: no command and no setting uses it", label=words))
    old = factors.get(name)
    factors[name] = old | {"levels": read} if isinstance(old, dict) else read
    _set_origin(document, ("factors", name), "set", name)


def _check_label(document: Document, words: str, name: str, levels: int) -> None:
    """Raise InputError for an unlikely label: a typo, a setting, a factor without a command."""
    factors = document.data["factors"]
    if slips := difflib.get_close_matches(name, factors, n=1, cutoff=_SLIP):
        raise InputError(
            "unknown-factor",
            "{spell.set:{assignment}}: unknown factor '{factor}'",
            "did you mean {suggestion}?",
            assignment=words,
            factor=name,
            suggestion=slips[0],
        )
    if name in ("target", "targets", *_KEYS) or name in _ENVELOPE or name in _ENVELOPE.values():
        option = next((key for key, setting in _ENVELOPE.items() if setting == name), name.replace("targets", "target"))
        raise InputError(
            "not-a-factor",
            "{spell.set:{assignment}}: {name} is not a factor",
            "write {flag}",
            assignment=words,
            name=name,
            flag=_format_flag(option),
        )
    if levels > 1 and document.name:
        raise InputError(
            "unknown-factor",
            "{spell.set:{assignment}}: the file has no factor '{factor}'",
            "{suggestion}; a label has one level",
            assignment=words,
            factor=name,
            suggestion=suggest_replacement(name, factors) if factors else "the file has none",
        )

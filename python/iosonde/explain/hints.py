"""Rules as configuration files: hints of ROMIO, commands of Lustre and GlusterFS, mount options, jobs of fio, flags of
IOR.

Such files know no workloads, so each rule has its own; its first lines name the workload. Names of columns in the
system are looked up here, or given by the user. Values are checked or quoted, so they cannot inject anything.

Sources: ROMIO's hints file (one ``key value`` a line, ``#`` at the start of a line is a comment), lfs-setstripe(1),
gluster(8) and the options' names of ``gluster volume set help``, mount(8), nfs(5), fio(1), IOR's manual.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.table import Cell
from iosonde.core.units import parse_size

from .rules import Rule

_SAFE = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.:/+-]*$")
_ON, _OFF = ("on", "yes", "true", "enable", "1"), ("off", "no", "false", "disable", "0")
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Hints:
    """``keys`` maps a column, in lower case with ``_`` between words, to the system's names; ``own`` tests whether a
    column is a name of the system itself. ``write`` formats (name, value) pairs as lines, ``value`` a level for the
    system (raises InputError)."""

    suffix: str
    keys: Mapping[str, tuple[str, ...]]
    own: Callable[[str], bool]
    write: Callable[[Pairs], list[str]]
    value: Callable[[str, str], str]


def format_hint_file(rule: Rule, system: str, names: Mapping[str, str] | None = None) -> str:
    """Format the file of one rule for a system (a key of SYSTEMS); ``names`` maps columns, and levels, to the system's
    names.

    Raises InputError if the system knows none of the chosen columns, or a value cannot be written safely.
    """
    pairs, unknown = _translate_setting(rule, system, names or {})
    if not pairs:
        raise InputError(
            "unmapped-setting",
            "{system} knows no setting called {columns}",
            "give its name there, as {spell.as:{column}={example}}",
            system=system,
            columns=", ".join(rule.choose),
            column=rule.choose[0],
            example=next(iter(SYSTEMS[system].keys.values()))[0],
        )
    script = ["#!/bin/sh"] if SYSTEMS[system].suffix == ".sh" else []
    head = [
        *script,
        f"# when: {_escape_text(rule.when)}",
        f"# learned from {rule.instances} workloads; worst case {100 * rule.lowest:.0f} % of the best",
    ]
    head += [f"# not set here: {_escape_text(f'{name}={value}')}" for name, value in unknown]
    return "\n".join([*head, *SYSTEMS[system].write(pairs)]) + "\n"


def build_hint_files(
    rules: Sequence[Rule],
    system: str,
    names: Mapping[str, str] | None = None,
    settings: Sequence[tuple[Cell, ...]] = (),
) -> dict[str, str]:
    """Return file name → content: a file for each rule, and ``rules.txt`` with the workload of each.

    ``names`` are of chosen columns, or of levels in ``settings``. Raises InputError for another.
    """
    choose = rules[0].choose
    every = (*settings, *(rule.setting for rule in rules))
    for name in names or {}:
        columns = {
            column for setting in every for column, level in zip(choose, setting, strict=True) if str(level) == name
        }
        if name not in choose and not columns:
            raise InputError(
                "unknown-name",
                "'{name}' is neither chosen nor a level",
                "{spell.as} renames {columns}",
                name=name,
                columns=", ".join(choose),
            )
        if len(columns) + (name in choose) > 1:
            both = ", ".join(sorted({*columns, *({name} & {*choose})}))
            raise InputError(
                "ambiguous-name",
                "{spell.as:{name}} is ambiguous: {meanings}",
                "use distinct names of levels in the data",
                name=name,
                meanings=both,
            )
    files = {
        f"rule-{at}{SYSTEMS[system].suffix}": format_hint_file(rule, system, names) for at, rule in enumerate(rules, 1)
    }
    index = [f"{name}: {_escape_text(rule.sentence())}" for name, rule in zip(files, rules, strict=True)]
    return {**files, "rules.txt": "\n".join(index) + "\n"}


def _translate_setting(rule: Rule, system: str, names: Mapping[str, str]) -> tuple[Pairs, Pairs]:
    """Return ((name, value) for the system, (column, value) that it does not know)."""
    hints = SYSTEMS[system]
    pairs: list[tuple[str, str]] = []
    unknown: list[tuple[str, str]] = []
    for column, cell in zip(rule.choose, rule.setting, strict=True):
        label, unit = _split_unit(column)
        word = re.sub(r"[\s-]+", "_", label.lower())
        keys = (names[column],) if column in names else hints.keys.get(word, ())
        if not keys and hints.own(label):
            keys = (label,)
        if not keys:
            unknown.append((column, str(cell)))
        text = names.get(str(cell), _format_bytes(f"{cell}{unit}") if unit and not isinstance(cell, str) else str(cell))
        for key in keys:
            if not _SAFE.match(key.lstrip("-")) or not text.isprintable() or text.startswith("-") and text != "-1":
                raise InputError(
                    "unsafe-value",
                    "{column}={cell} cannot be written for {system}",
                    "use plain words and numbers",
                    column=column,
                    cell=cell,
                    system=system,
                )
            value = hints.value(key, text)
            if not _SAFE.match(value) and system not in ("lustre", "gluster"):
                raise InputError(
                    "unsafe-value",
                    "{column}={cell} cannot be written for {system}",
                    "use plain words and numbers",
                    column=column,
                    cell=cell,
                    system=system,
                )
            if key in dict(pairs):
                raise InputError(
                    "duplicate-setting",
                    "two of the chosen columns are {key} for {system}",
                    "choose one of them",
                    key=key,
                    system=system,
                )
            pairs.append((key, value))
    return pairs, unknown


def _split_unit(column: str) -> tuple[str, str]:
    """Split a column's name from its unit of size, else '': ``stripe_size (KiB)``, ``stripe_size_kib``."""
    match = re.fullmatch(r"(.+?)(?:\s*\(([KMGT]i?B|bytes|B)\)|_([KMGT]iB|bytes))", column, re.IGNORECASE)
    if not match:
        return column, ""
    unit = match.group(2) or match.group(3)
    return match.group(1), "" if unit.lower() in ("bytes", "b") else unit


def _format_bytes(text: str) -> str:
    """Return a size as a whole number of bytes, which every system reads alike: for fio ``KiB`` is 1000 bytes."""
    return str(parse_size(text))


def _format_size(text: str) -> str:
    """Convert ``128KiB`` to bytes; ``128k`` and ``2MB`` stay, as the system got them like this in the measurement."""
    return _format_bytes(text) if re.fullmatch(r"[\d.]+\s*[KMGT]iB", text, re.IGNORECASE) else text


def _format_switch(key: str, text: str, on: str, off: str, other: str = "") -> str:
    word = on if text.lower() in _ON else off if text.lower() in _OFF else text.lower()
    if word not in (on, off, other or on):
        allowed = f"{on}, {off} or {other}" if other else f"{on} or {off}"
        raise InputError(
            "unknown-option-value",
            "{key} must be {allowed}, not {level}",
            "map it, as {spell.as:{level}={example}}",
            key=key,
            allowed=allowed,
            level=text,
            example=on,
        )
    return word


def _format_romio_value(key: str, text: str) -> str:
    if key in ("romio_ds_read", "romio_ds_write", "romio_cb_read", "romio_cb_write", "romio_cb_alltoall"):
        return _format_switch(key, text, "enable", "disable", "automatic")
    if key == "romio_cb_pfr":
        return _format_switch(key, text, "enable", "disable")
    if key in ("romio_no_indep_rw", "direct_read", "direct_write"):
        return _format_switch(key, text, "true", "false")
    return _format_bytes(text) if key in _ROMIO_BYTES else text


def _format_lustre_value(key: str, text: str) -> str:
    if key in ("-S", "--stripe-size") and (size := parse_size(text)) % 65536:
        raise InputError(
            "not-a-multiple",
            "a stripe of {size_bytes} bytes cannot be set",
            "Lustre takes multiples of 64 KiB",
            size_bytes=size,
        )
    return _format_size(text)


def _format_fio_value(key: str, text: str) -> str:
    if text.lower() in _ON or text.lower() in _OFF:
        return "1" if text.lower() in _ON else "0"
    return _format_size(text)


def _escape_text(text: str) -> str:
    """Return one line of printable characters, so that nothing ends the comment."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def _format_mount_option(key: str, value: str) -> str:
    """Return ``noatime`` for on, ``atime`` for off, or the option's own opposite."""
    if value.isdigit() or value.lower() not in (*_ON, *_OFF):
        return f"{key}={value}"
    return key if value.lower() in _ON else _OPPOSITE.get(key, key[2:] if key.startswith("no") else f"no{key}")


def _write_ior(pairs: Pairs) -> list[str]:
    words = []
    for key, value in pairs:
        if key in _IOR_FLAGS:
            words += [key] if value == "on" else []
        else:
            words += [key, value]
    return [" ".join(words)]


_ROMIO_BYTES = ("striping_unit", "cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size")
_ROMIO_OWN = (
    *_ROMIO_BYTES,
    "striping_factor",
    "start_iodevice",
    "cb_nodes",
    "cb_config_list",
    "direct_read",
    "direct_write",
    "direct_io",
)
_OPPOSITE = {
    "sync": "async",
    "async": "sync",
    "ro": "rw",
    "rw": "ro",
    "hard": "soft",
    "soft": "hard",
    "fg": "bg",
    "bg": "fg",
}
_IOR_FLAGS = ("-c", "-F", "-z", "-e", "-C", "-Z", "-K", "-Y")
_STRIPES = ("servers", "stripe_count", "stripes", "striping_factor")
_STRIPE = ("stripe", "stripe_size", "striping_unit")
_GLUSTER = {
    "read_ahead": ("performance.read-ahead",),
    "write_behind": ("performance.write-behind",),
    "io_cache": ("performance.io-cache",),
    "md_cache": ("performance.stat-prefetch",),
    "quick_read": ("performance.quick-read",),
    "readdir_ahead": ("performance.readdir-ahead",),
    "cache_size": ("performance.cache-size",),
    "io_threads": ("performance.io-thread-count",),
    "open_behind": ("performance.open-behind",),
    "write_behind_window": ("performance.write-behind-window-size",),
    "read_ahead_pages": ("performance.read-ahead-page-count",),
}
_SIEVING = ("romio_ds_read", "romio_ds_write")

SYSTEMS: dict[str, Hints] = {
    "romio": Hints(
        ".hints",
        {
            **dict.fromkeys(("sieving", "data_sieving", "ds"), _SIEVING),
            "collective": ("romio_cb_read", "romio_cb_write"),
            **dict.fromkeys(("buffer", "sieving_buffer"), ("ind_rd_buffer_size", "ind_wr_buffer_size")),
            **dict.fromkeys(_STRIPES, ("striping_factor",)),
            **dict.fromkeys(_STRIPE, ("striping_unit",)),
        },
        lambda name: name in _ROMIO_OWN or name.startswith("romio_"),
        lambda pairs: [f"{key} {value}" for key, value in pairs],
        _format_romio_value,
    ),
    "lustre": Hints(
        ".sh",
        {
            **dict.fromkeys(_STRIPES, ("-c",)),
            **dict.fromkeys(_STRIPE, ("-S",)),
            "stripe_index": ("-i",),
            "pool": ("-p",),
        },
        lambda name: False,
        lambda pairs: ["lfs setstripe " + " ".join(f"{key} {shlex.quote(value)}" for key, value in pairs) + ' "$1"'],
        _format_lustre_value,
    ),
    "gluster": Hints(
        ".sh",
        _GLUSTER,
        lambda name: bool(re.match(r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", name)),
        lambda pairs: [f'gluster volume set "$1" {key} {shlex.quote(value)}' for key, value in pairs],
        lambda key, text: _format_size(text),
    ),
    "mount": Hints(
        ".options",
        {"read_size": ("rsize",), "write_size": ("wsize",)},
        lambda name: bool(_SAFE.match(name)),
        lambda pairs: [",".join(_format_mount_option(key, value) for key, value in pairs)],
        lambda key, text: _format_bytes(text) if key in ("rsize", "wsize") else _format_size(text),
    ),
    "fio": Hints(
        ".fio",
        {"block_size": ("bs",), "queue_depth": ("iodepth",), "engine": ("ioengine",), "jobs": ("numjobs",)},
        lambda name: bool(_SAFE.match(name)),
        lambda pairs: ["[global]", *(f"{key}={value}" for key, value in pairs)],
        _format_fio_value,
    ),
    "ior": Hints(
        ".flags",
        {
            "transfer_size": ("-t",),
            "block_size": ("-b",),
            "segments": ("-s",),
            "api": ("-a",),
            "collective": ("-c",),
            "file_per_process": ("-F",),
            "random": ("-z",),
            "fsync": ("-e",),
        },
        lambda name: False,
        _write_ior,
        lambda key, text: _format_switch(key, text, "on", "off") if key in _IOR_FLAGS else _format_size(text),
    ),
}

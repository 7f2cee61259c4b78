"""Rules as files that systems understand: hints of ROMIO, commands of Lustre and GlusterFS, mount options, jobs of
fio, flags of IOR.

No such file knows workloads, so each rule has its own; its first lines say for which. What a column is called in the
system is looked up here, or said by the user. Values are checked or quoted: nothing in them is more than a value.

Sources: ROMIO's hints file (one ``key value`` a line, ``#`` at the start of a line is a comment), lfs-setstripe(1),
gluster(8) and the options' names of ``gluster volume set help``, mount(8), nfs(5), fio(1), IOR's manual.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.units import parse_size
from iosonde.stats.table import Cell

from .rules import Rule

_SAFE = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.:/+-]*$")
_ON, _OFF = ("on", "yes", "true", "enable", "1"), ("off", "no", "false", "disable", "0")
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class System:
    """``keys`` maps a column, in small letters with ``_`` between words, to the system's names; ``own`` says whether
    a column is a name of the system itself; ``write`` makes the file's lines of (name, value) pairs."""

    suffix: str
    keys: Mapping[str, tuple[str, ...]]
    own: Callable[[str], bool]
    write: Callable[[Pairs], list[str]]


def file_of(rule: Rule, system: str, names: Mapping[str, str] | None = None) -> str:
    """The file of one rule for a system (a key of SYSTEMS); ``names`` maps columns, and levels, to the system's words.

    Raises InputError where the system knows none of the chosen columns, or a value cannot be written safely.
    """
    pairs, unknown = _pairs(rule, system, names or {})
    if not pairs:
        raise InputError(
            f"{system} knows no setting called {', '.join(rule.choose)}",
            f"say what it is called there, as --as {rule.choose[0]}={_example(system)}",
        )
    head = [f"# when: {_plain(rule.when)}", f"# learned from {rule.instances} instances; worst case "
            f"{100 * rule.lowest:.0f} % of the best"]  # fmt: skip
    head += [f"# not set here: {_plain(f'{name}={value}')}" for name, value in unknown]
    return "\n".join([*head, *SYSTEMS[system].write(pairs)]) + "\n"


def files_of(rules: Sequence[Rule], system: str, names: Mapping[str, str] | None = None,
             settings: Sequence[tuple[Cell, ...]] = ()) -> dict[str, str]:  # fmt: skip
    """File name → content: one for each rule, and ``rules.txt`` that says which is for what.

    ``names`` are of chosen columns, or of levels in ``settings``. Raises InputError for another.
    """
    levels = {str(level) for setting in (*settings, *(rule.setting for rule in rules)) for level in setting}
    for name in names or {}:
        if name not in rules[0].choose and name not in levels:
            raise InputError(f"'{name}' is neither chosen nor a level", f"--as renames {', '.join(rules[0].choose)}")
    made = {f"rule-{at}{SYSTEMS[system].suffix}": file_of(rule, system, names) for at, rule in enumerate(rules, 1)}
    index = [f"{name}: {_plain(rule.sentence())}" for name, rule in zip(made, rules, strict=True)]
    return {**made, "rules.txt": "\n".join(index) + "\n"}


def _pairs(rule: Rule, system: str, names: Mapping[str, str]) -> tuple[Pairs, Pairs]:
    """((name, value) for the system, (column, value) that it does not know)."""
    known = SYSTEMS[system]
    found, unknown = [], []
    for column, cell in zip(rule.choose, rule.setting, strict=True):
        word = re.sub(r"[\s-]+", "_", column.lower())
        keys = (names[column],) if column in names else known.keys.get(word, ())
        if not keys and known.own(column):
            keys = (column,)
        if not keys:
            unknown.append((column, str(cell)))
        for key in keys:
            value = _value(key, names.get(str(cell), str(cell)), system)
            if not _SAFE.match(key.lstrip("-")) or not (_SAFE.match(value) or system in ("lustre", "gluster")):
                raise InputError(f"{column}={cell} cannot be written for {system}", "use plain words and numbers")
            found.append((key, value))
    return found, unknown


def _value(key: str, text: str, system: str) -> str:
    small = text.lower()
    if system == "romio" and key.startswith(("romio_ds", "romio_cb")):
        word = "enable" if small in _ON else "disable" if small in _OFF else small
        if word not in ("enable", "disable", "automatic"):
            raise InputError(f"{key} is enable, disable or automatic, not {text}", f"say which, as --as {text}=enable")
        return word
    if system == "romio" and key in _ROMIO_BYTES:
        return str(parse_size(text))
    return text


def _plain(text: str) -> str:
    """One line of printable characters: nothing ends the comment."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def _example(system: str) -> str:
    return next(iter(SYSTEMS[system].keys.values()))[0]


def _romio(pairs: Pairs) -> list[str]:
    return [f"{key} {value}" for key, value in pairs]


def _lustre(pairs: Pairs) -> list[str]:
    return ["lfs setstripe " + " ".join(f"{key} {shlex.quote(value)}" for key, value in pairs) + ' "$1"']


def _gluster(pairs: Pairs) -> list[str]:
    return [f'gluster volume set "$1" {key} {shlex.quote(value)}' for key, value in pairs]


def _mount(pairs: Pairs) -> list[str]:
    words = [
        key if value.lower() in _ON and not _numeric(value) else f"no{key}"
        if value.lower() in _OFF and not _numeric(value) else f"{key}={value}"
        for key, value in pairs
    ]  # fmt: skip
    return [",".join(words)]


def _fio(pairs: Pairs) -> list[str]:
    return ["[global]", *(f"{key}={value}" for key, value in pairs)]


def _ior(pairs: Pairs) -> list[str]:
    words = []
    for key, value in pairs:
        if key in _IOR_FLAGS and value.lower() in (*_ON, *_OFF):
            words += [key] if value.lower() in _ON else []
        else:
            words += [key, value]
    return [" ".join(words)]


def _numeric(value: str) -> bool:
    return value.isdigit()


_ROMIO_BYTES = ("striping_unit", "cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size")
_ROMIO_OWN = (*_ROMIO_BYTES, "striping_factor", "start_iodevice", "cb_nodes", "cb_config_list", "direct_read",
              "direct_write", "direct_io")  # fmt: skip
_IOR_FLAGS = ("-c", "-F", "-z", "-e", "-C", "-Z", "-K", "-Y")
_STRIPES = ("servers", "stripe_count", "stripes", "striping_factor")
_STRIPE = ("stripe", "stripe_size", "striping_unit")
_GLUSTER = {
    "read_ahead": ("performance.read-ahead",), "write_behind": ("performance.write-behind",),
    "io_cache": ("performance.io-cache",), "md_cache": ("performance.stat-prefetch",),
    "quick_read": ("performance.quick-read",), "readdir_ahead": ("performance.readdir-ahead",),
    "cache_size": ("performance.cache-size",), "io_threads": ("performance.io-thread-count",),
}  # fmt: skip
_SIEVING = ("romio_ds_read", "romio_ds_write")

SYSTEMS: dict[str, System] = {
    "romio": System(".hints", {
        **dict.fromkeys(("sieving", "data_sieving", "ds"), _SIEVING), "collective": ("romio_cb_read", "romio_cb_write"),
        **dict.fromkeys(("buffer", "sieving_buffer"), ("ind_rd_buffer_size", "ind_wr_buffer_size")),
        **dict.fromkeys(_STRIPES, ("striping_factor",)), **dict.fromkeys(_STRIPE, ("striping_unit",)),
    }, lambda name: name in _ROMIO_OWN or name.startswith("romio_"), _romio),
    "lustre": System(".sh", {**dict.fromkeys(_STRIPES, ("-c",)), **dict.fromkeys(_STRIPE, ("-S",)),
                             "stripe_index": ("-i",), "pool": ("-p",)}, lambda name: False, _lustre),
    "gluster": System(".sh", _GLUSTER, lambda name: bool(re.match(r"^[a-z-]+\.[a-z-]+$", name)), _gluster),
    "mount": System(".options", {"read_size": ("rsize",), "write_size": ("wsize",)},
                    lambda name: bool(_SAFE.match(name)), _mount),
    "fio": System(".fio", {"block_size": ("bs",), "queue_depth": ("iodepth",), "engine": ("ioengine",),
                           "jobs": ("numjobs",)}, lambda name: bool(_SAFE.match(name)), _fio),
    "ior": System(".flags", {"transfer_size": ("-t",), "block_size": ("-b",), "segments": ("-s",), "api": ("-a",),
                             "collective": ("-c",), "file_per_process": ("-F",), "random": ("-z",), "fsync": ("-e",)},
                  lambda name: False, _ior),
}  # fmt: skip

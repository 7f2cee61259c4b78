"""Where a monitor is: kept in its store, so that it goes on after a restart without reading all its looks."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from iosonde.campaign.campaign import create_experiment_id, draw_seed
from iosonde.core.errors import DataError, InputError
from iosonde.core.timestamps import format_now
from iosonde.core.types import Experiment
from iosonde.core.whole_file import replace_file
from iosonde.store import Store

from .pace import USUAL_LOOKS

FILE = "monitor.json"
SETTING = "monitor"  # of the experiment: what it watches
_VERSION = 1


@dataclass(frozen=True)
class MonitorState:
    """``path``: the absolute path, as it was typed; ``target``: the same without links; ``mount``: its mount point and
    type, which a look must find again. ``window``: looks that the files are for. ``number``: that of the next look.
    ``is_clean``: its files are as that look needs them. ``started_s``, ``busy_s``: begin (seconds since 1970) of the
    last look, and the time that it kept the mount busy. ``strain``: how often the interval is doubled; ``usual``:
    seconds of the last complete looks; ``hung``: helpers that hung in the kernel."""

    experiment: str
    path: str
    target: str
    mount: tuple[str, str]
    window: int
    number: int = 0
    is_clean: bool = False
    started_s: float | None = None
    busy_s: float = 0.0
    strain: int = 0
    usual: tuple[float, ...] = ()
    hung: tuple[int, ...] = ()
    version: int = field(default=_VERSION, kw_only=True)

    def add_usual(self, seconds: float) -> tuple[float, ...]:
        """Return ``usual`` with that of one more look."""
        return (*self.usual, seconds)[-USUAL_LOOKS:]


def write_state(store: Store, state: MonitorState) -> None:
    """Replace the state. Raises InputError, SystemFaultError."""
    replace_file(store.path / FILE, json.dumps(asdict(state), indent=1).encode())


def read_state(store: Store) -> MonitorState | None:
    """Return the state of the monitor of a store, None if it has none. Raises InputError if the store holds other
    measurements, DataError for a damaged state."""
    path = store.path / FILE
    try:
        document = json.loads(path.read_bytes())
        return MonitorState(**{**document, **{key: tuple(document[key]) for key in ("mount", "usual", "hung")}})
    except FileNotFoundError:
        return _rebuild_state(store)
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            "damaged-monitor-state",
            "{path} is damaged, or of a newer version",
            "remove it: it is made anew from the looks in the store",
            path=path,
        ) from error


def begin_state(store: Store, path: str, target: str, mount: tuple[str, str], window: int) -> MonitorState:
    """Return the state of a new monitor, whose experiment is stored first."""
    setting = {"path": path, "target": target, "mount_point": mount[0], "type": mount[1]}
    experiment = Experiment(create_experiment_id(), "monitor", [], {SETTING: setting}, [], draw_seed(), format_now())
    store.save_experiment(experiment)
    return MonitorState(experiment.id, path, target, mount, window)


def refuse_other_path(state: MonitorState, path: str, store: Path) -> None:
    """Raise InputError if the monitor of the store watches another directory."""
    if path not in (state.path, state.target):
        raise InputError(
            "monitor-of-another-path",
            "the store {store} is of a monitor of {target}",
            "name another {spell.store}: each monitor has its own",
            store=store,
            target=state.path,
        )


def _rebuild_state(store: Store) -> MonitorState | None:
    """Return a state made from the experiment and the ids of its runs, None for an empty store."""
    experiments, ids = store.experiments(), store.run_ids()
    own = [experiment for experiment in experiments if SETTING in experiment.settings]
    if not experiments and not ids:
        return None
    if len(own) != 1 or len(experiments) != 1:
        raise InputError(
            "store-of-others",
            "the store {store} holds other measurements",
            "name another {spell.store}: each monitor has its own",
            store=store.path,
        )
    setting: dict[str, Any] = own[0].settings[SETTING]
    last = max((int(name.rpartition("-")[2]) for name in ids), default=-1)
    mount = (setting["mount_point"], setting["type"])
    return MonitorState(own[0].id, setting["path"], setting["target"], mount, 0, number=last + 1)

"""A store of a campaign that tried options of a volume, for the tests of advice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from test_data_factors import NOW, trial

from iosonde.core.stored import DETECTED_LEVELS
from iosonde.core.types import Experiment, Factor, Observation
from iosonde.store import Store

SETTINGS = [(write_behind, cache) for write_behind in ("off", "on") for cache in (64, 128)]


def options(path, found: dict | None = None, names: tuple[str, ...] = ("e",)) -> str:
    """Options of a volume: writes are 3.5 times as fast with write_behind on, reads alike; ± 15 %."""
    rng = np.random.default_rng(4)
    store = Store.create(path)
    for name in names:
        factors = [Factor("write_behind", "", ("off", "on")), Factor("cache", "bytes", (64, 128))]
        store.save_experiment(Experiment(name, name, factors, {}, [], 1, NOW))
        for number, (behind, cache) in enumerate(SETTINGS * 4):
            facts = {DETECTED_LEVELS: {name: [level] for name, level in found.items()}} if found and number == 0 else {}
            rates = {"write": 3.5 if behind == "on" else 1.0, "read": 1.0}
            rows = [
                Observation(operation, "bandwidth_last_done", 1e8 * rate * np.exp(rng.normal(0, 0.15)), "bytes/s")
                for operation, rate in rates.items()
            ]
            made = trial(number, 0, name, facts=facts, write_behind=behind, cache=cache)
            store.append(replace(made, observations=rows))
    return str(path)

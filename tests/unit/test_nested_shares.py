"""The share of a factor that is nested in another one is no more than its own R²."""

import numpy as np
import pytest

from iosonde.core.message import Message
from iosonde.stats.regression.effect_types import correct_effects, describe_blocks
from iosonde.stats.regression.effects import estimate_effects


def test_a_file_system_whose_hosts_differ_has_the_share_that_it_explains() -> None:
    rng = np.random.default_rng(3)
    mood = rng.normal(0, 30, 8)
    values = [300 + 5 * (host % 2) + mood[host] + rng.normal(0, 3, 10) for host in range(8)]
    settings = {"fs": ["nfs", "ceph"] * 4, "host": [f"n{host}" for host in range(8)]}
    effects = correct_effects([estimate_effects(settings, values, None, 0.95)])[0]
    (block,) = effects.effects
    y = np.concatenate(values)
    side = np.repeat(np.arange(8) % 2, 10)
    r2 = float(np.corrcoef(side, y)[0, 1] ** 2)
    fs, host = block.share_of("fs"), block.share_of("host")
    assert fs.value == pytest.approx(r2) and fs.low is not None and fs.low <= r2
    assert block.share == pytest.approx((fs.value or 0.0) + (host.value or 0.0))
    (nested,) = [text for text in describe_blocks([block]) if isinstance(text, Message) and text.code == "nested"]
    assert nested.values["outer"] == "fs" and nested.values["inner"] == "host"


def test_two_names_of_the_same_levels_share_one_share() -> None:
    rng = np.random.default_rng(3)
    values = [100.0 * place + rng.normal(0, 3, 4) for place in range(3)]
    settings = {"device": ["hdd", "ssd", "nvme"], "pool": ["p1", "p2", "p3"]}
    effects = correct_effects([estimate_effects(settings, values, None, 0.95)])[0]
    (block,) = effects.effects
    assert block.own == () and block.share_of("device") == block.explained
    assert not any(isinstance(text, Message) for text in describe_blocks([block]))

"""A campaign that is checked and started, with all that it needs to measure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iosonde.core.types import Experiment
from iosonde.measure.target.keeper import Keeper
from iosonde.store import Store

from .caller import Caller, Stop
from .campaign import Campaign
from .preflight import Ready


@dataclass(frozen=True)
class Hands:
    """Access to the target, the stop signal, and the caller of a campaign."""

    keeper: Keeper
    stop: Stop
    caller: Caller


@dataclass(frozen=True)
class BegunCampaign:
    """``experiment`` is the ``campaign`` as in the ``store``, now or later; ``level`` is the confidence of its
    intervals."""

    store: Store
    campaign: Campaign
    ready: Ready
    experiment: Experiment
    level: float
    hands: Hands

    def say(self, sentence: str) -> None:
        """Show a sentence to the user."""
        self.hands.caller.say(sentence)

    @property
    def spool(self) -> Path | None:
        """The directory for results of ranks; None: that of temporary files."""
        return Path(self.campaign.spool) if self.campaign.spool else None

    @property
    def remember(self) -> Path:
        """Return the path that records what hanging ranks left behind. It lies with the locks, as it is not a
        result."""
        return self.store.path / "locks" / "left.json"

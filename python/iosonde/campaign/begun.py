"""A campaign that is checked and begun, with all that it is measured by."""

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
    """What a campaign touches the target with, how it is told to stop, and whom it speaks to."""

    keeper: Keeper
    stop: Stop
    caller: Caller


@dataclass(frozen=True)
class BegunCampaign:
    """``experiment`` is the ``campaign`` as the ``store`` has it, or will have it; ``level`` is the confidence of its
    intervals."""

    store: Store
    campaign: Campaign
    ready: Ready
    experiment: Experiment
    level: float
    hands: Hands

    def say(self, sentence: str) -> None:
        """Tell a person."""
        self.hands.caller.say(sentence)

    @property
    def spool(self) -> Path | None:
        """Where ranks leave their results; None: where temporary files are."""
        return Path(self.campaign.spool) if self.campaign.spool else None

    @property
    def remember(self) -> Path:
        """What ranks left that hang in the kernel. Beside the locks: it is nothing of the results."""
        return self.store.path / "locks" / "left.json"

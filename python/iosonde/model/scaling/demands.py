"""The law of one queue as stations of a network: demands of one operation at client and server.

With C the ceiling and λ the rate of one node, an operation of work W needs D = W/C of the server and W/λ alone. Z = W/λ
− D is then the client's own time (the utilisation law: Lazowska et al. 1984, ch. 3, at full use). The median time of
operations recorded at one client is W/λ only: the shared part of it remains unknown.
"""

from dataclasses import dataclass
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .comparison import Regime
from .laws import CEILING, LAMBDA


@dataclass(frozen=True)
class Demands:
    """Seconds of one operation: at the server (D), alone from end to end (Z + D), and at the client (Z, at least 0)."""

    server: Estimate
    alone: Estimate
    client_s: float

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"server_s": self.server.to_json(), "alone_s": self.alone.to_json(), "client_s": self.client_s}


def compute_service_demands(regime: Regime, work: float) -> Demands | str:
    """Return the demands of an operation of ``work`` (in the units that the rate counts), or the reason for having
    none."""
    law = next((law for law in regime.possible if law.law.name == "queue"), None)
    if law is None:
        return Message("law-excluded", "the law of one queue is ruled out or cannot be fitted")
    ceiling, alone = law.parameters[CEILING], law.parameters[LAMBDA]
    if ceiling.value is None or ceiling.low is None or ceiling.high is None or alone.value is None:
        return Message("ceiling-not-reached", "the ceiling is not reached: measure at more nodes")
    server, total = _to_seconds(ceiling, work), _to_seconds(alone, work)
    return Demands(server, total, max(work / alone.value - work / ceiling.value, 0.0))


def _to_seconds(rate: Estimate, work: float) -> Estimate:
    """Return work ÷ rate: the ends change places."""
    value, low, high = (None if end is None or end <= 0 else work / end for end in (rate.value, rate.high, rate.low))
    return Estimate(value, low, high, rate.level, rate.n)

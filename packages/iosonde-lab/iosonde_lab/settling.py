"""Activity of servers after the last step of a trial: until space is freed, and until copies agree.
Observed by the bytes in use on their disks and the health of the file system, every 0.1 s.
"""

import threading
import time
from collections.abc import Callable, Mapping

from iosonde.core.faults import Settled

SAMPLE_S = 0.1
QUIET_S = 3.0  # without a change, after which the servers have settled
_LEAST_BYTES, _SHARE = 2**20, 0.01  # tolerance within which the space in use equals that before the trial


class Settling:
    """Samples from before a trial until nothing changes any more."""

    def __init__(self, used: Callable[[], int | None], cpu_s: Callable[[], Mapping[str, float]]) -> None:
        self._used, self._cpu_s = used, cpu_s
        self._samples: list[tuple[int, int, float]] = []  # ns, bytes in use, CPU s of all servers
        self._next = 0.0
        self.sample()

    def sample(self) -> None:
        """Take a sample if it is due."""
        if time.monotonic() >= self._next:
            current_bytes, last = self._used(), self._samples[-1][1] if self._samples else 0
            used = last if current_bytes is None else current_bytes  # a server is down: repeat the last value
            self._samples.append((time.monotonic_ns(), used, sum(self._cpu_s().values())))
            self._next = time.monotonic() + SAMPLE_S

    def until_quiet(
        self, from_ns: int, limit_s: float, health: Callable[[], list[str]], stop: threading.Event
    ) -> Settled:
        """Observe until the file system is healthy and quiet, for at most ``limit_s`` after ``from_ns``."""
        agreed_ns, troubles = 0, ["not checked"]
        while not stop.wait(SAMPLE_S):
            self.sample()
            troubles = health()
            now = time.monotonic_ns()
            agreed_ns = 0 if troubles else agreed_ns or now
            quiet = now - max(self._changed_ns(), from_ns) > QUIET_S * 1e9 and now - agreed_ns > QUIET_S * 1e9
            if (not troubles and quiet) or now - from_ns > limit_s * 1e9:
                break
        return self._settled(from_ns, agreed_ns if not troubles else 0, tuple(troubles))

    def _changed_ns(self) -> int:
        last = self._samples[-1][1]
        return next((at for at, used, _ in reversed(self._samples) if abs(used - last) > self._near()), 0)

    def _near(self) -> int:
        used = [used for _, used, _ in self._samples]
        return max(_LEAST_BYTES, int(_SHARE * (max(used) - used[0])))

    def _settled(self, from_ns: int, agreed_ns: int, health: tuple[str, ...]) -> Settled:
        last_ns, end, _ = self._samples[-1]
        before = self._samples[0][1]
        back = end <= before + self._near()
        above = [at for at, used, _ in self._samples if used > before + self._near()]
        after_above = next((at for at, *_ in self._samples if at > (above[-1] if above else 0)), last_ns)
        space_back_s = max(0.0, (after_above - from_ns) / 1e9) if back else None
        agree_s = max(0.0, (agreed_ns - from_ns) / 1e9) if agreed_ns else None
        worked_s = max((duration_s for duration_s in (space_back_s, agree_s) if duration_s is not None), default=None)
        idle = self._cpu(last_ns - int(QUIET_S * 1e9), last_ns)
        return Settled(
            from_ns,
            (last_ns - from_ns) / 1e9,
            before,
            max(used for _, used, _ in self._samples),
            self._at(from_ns)[1],
            end,
            space_back_s,
            agree_s,
            None if worked_s is None else self._cpu(from_ns, from_ns + int(worked_s * 1e9)),
            idle / QUIET_S if agreed_ns and (last_ns - from_ns) / 1e9 > QUIET_S else None,
            health,
        )

    def _cpu(self, begin_ns: int, end_ns: int) -> float:
        return self._at(end_ns)[2] - self._at(begin_ns)[2]

    def _at(self, at_ns: int) -> tuple[int, int, float]:
        """Return the last sample that is not later than ``at_ns``."""
        return next((sample for sample in reversed(self._samples) if sample[0] <= at_ns), self._samples[0])

"""One campaign from its plan to its result, inside name spaces of its own: `python -m faults.worker PLAN RESULT`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

from . import inflict, scene
from .invariants import Witness
from .plans import Plan
from .scene import Scene

END_S = 10.0  # what is promised beyond the idle limit
ALLOWED_STARTS = 20  # times what starting `iosonde` takes here: a loaded machine is given more
LONG_IDLE_S = 30.0
SHORT_IDLE_S = 5.0
MOMENT_S = 60.0
# After these the campaign cannot go on: the limit counts once. After others each trial that is left may take it.
_HANGS = (
    "target hangs from the start",
    "target hangs in a trial",
    "target hangs in the removal",
    "SIGSTOP of the FUSE daemon",
)


def run(plan: Plan) -> dict[str, Any]:
    """Do it, and say what was seen."""
    begun = time.monotonic()
    start_s = _start_s()
    idle_s = max(SHORT_IDLE_S if plan.short_idle else LONG_IDLE_S, round(10 * start_s))
    place = Scene(plan, idle_s)
    try:
        place.build()
        witness = Witness(place)
        inflict.arm(place)
        place.start()
        hit_at = _until_hit(place, witness)
        ended_s, limit_s = _until_ended(place, witness, hit_at, _limit_s(place, start_s))
        assert place.main
        code, said = place.main.returncode, place.said("stderr").read_text(errors="replace")
        hit = _was_hit(place, hit_at)
        _afterwards(place, witness, ended_s, limit_s, hit)
        return {
            **plan.told(),
            "hit": hit,
            "breaches": witness.breaches,
            "exit_code": code,
            "idle_s": idle_s,
            "ended_s": ended_s,
            "limit_s": limit_s,
            "start_s": start_s,
            "attempts": place.attempt,
            "resumed": place.attempt > 1 and place.main.returncode == 0,
            "said": said[-2000:],
            "said_again": place.said("stderr").read_text(errors="replace")[-2000:] if place.attempt > 1 else "",
            "text": witness.text()[-3000:],
            "seconds": time.monotonic() - begun,
        }
    finally:
        place.finish()


def _start_s() -> float:
    begun = time.monotonic()
    words = [sys.executable, "-m", "iosonde.cli.main", "--version"]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun


def _until_hit(place: Scene, witness: Witness) -> float | None:
    """Wait for the plan's moment and strike; the time, or None if the command ended before."""
    plan = place.plan

    def reached() -> bool:
        witness.look()
        done = len(witness.seen)
        if inflict.is_armed(place):
            return inflict.was_applied(place)
        if plan.moment == "inside":
            return done >= plan.trial and bool(place.ranks())
        return done >= {"start": 0, "between": plan.trial + 1, "end": plan.trials}[plan.moment]

    if not place.wait(reached, MOMENT_S, 0.1 if inflict.is_armed(place) else 0.01):
        return None
    if inflict.is_armed(place):
        return time.monotonic()
    delay_s = {"start": 3 * plan.delay_s, "between": plan.delay_s / 20}.get(plan.moment, plan.delay_s)
    place.wait(lambda: witness.look(), delay_s, 0.005)
    return time.monotonic() if not place.ended() and inflict.strike(place) else None


def _was_hit(place: Scene, hit_at: float | None) -> bool:
    """A rule that struck at the very end is noticed only now."""
    if hit_at is None and inflict.is_armed(place) and place.fuse and place.fuse.alive():
        return inflict.was_applied(place)
    return hit_at is not None


def _limit_s(place: Scene, start_s: float) -> float:
    plan = place.plan
    trials_left = 1 if plan.row in _HANGS else plan.trials + 1 - len(place.runs())
    return place.idle_s * max(1, trials_left) + END_S + ALLOWED_STARTS * start_s


def _until_ended(place: Scene, witness: Witness, hit_at: float | None, limit_s: float) -> tuple[float | None, float]:
    """Seconds from the fault to the end, None if it had to be ended; the limit, as slow as the machine is by then."""
    since, asked_again = hit_at or time.monotonic(), False
    while not place.ended():
        witness.look()
        if time.monotonic() - since > limit_s:
            if asked_again:
                return None, limit_s
            limit_s, asked_again = max(limit_s, _limit_s(place, _start_s())), True
        time.sleep(0.02)
    return time.monotonic() - since, limit_s


def _afterwards(place: Scene, witness: Witness, ended_s: float | None, limit_s: float, hit: bool) -> None:
    """The invariants with the fault in place, after it was lifted, and after the same command once more."""
    plan, main = place.plan, place.main
    assert main
    killed = main.returncode == -signal.SIGKILL or ended_s is None
    witness.check_end(ended_s, limit_s, hit)
    if ended_s is not None:
        witness.check_left(killed)
    inflict.lift(place)
    place.clear_processes()
    main.wait(20)
    witness.check_target(killed)
    if main.returncode != 0:
        witness.named_before = witness.text()
        place.start()
        assert place.main
        resume_s = place.idle_s * (plan.trials + 1) + END_S
        if not place.wait(lambda: witness.look(), resume_s):
            witness.blame(not place.ended(), f"the same command again had not ended after {resume_s:.0f} s")
        place.clear_processes()
        place.main.wait(20)
        witness.check_resumed()
    witness.check_by_product(("store check", "show", *(("verify",) if plan.number % 3 == 0 else ())))


def main() -> None:
    """The plan as JSON in the first word, the result into the file of the second."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o644)  # before /tmp is another
    scene.make_private()
    os.chdir("/")
    told = json.loads(sys.argv[1])
    found = run(Plan(**told))
    os.write(result, json.dumps(found).encode())


if __name__ == "__main__":
    main()

"""The traps: fixed tables in which a plausible sentence is false. Their noise is normal scores in a scattered order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from statistics import NormalDist

Rows = Iterable[Sequence[object]]


@cache
def wobble(n: int, stride: int = 7) -> tuple[float, ...]:
    """The n normal scores, scattered: the same on every machine. ``stride`` has no divisor in common with n."""
    return tuple(NormalDist().inv_cdf((1 + place * stride % n + 0.5) / (n + 1)) for place in range(n))


def csv(header: str, rows: Rows) -> str:
    """The text of a table; None is an empty cell."""
    lines = [
        ",".join("" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row)
        for row in rows
    ]
    return "\n".join([header, *lines, ""])


def plain(ratio: float) -> str:
    """No trap: B is so many times A, in random order, whatever the size."""
    rows = []
    noise = iter(wobble(48, 5))
    for repetition in range(12):
        for place in range(4):
            side, size = ("AABB", "ABBA")[repetition % 2][place], ("4KiB", "1MiB")[(place + repetition // 2) % 2]
            rows.append((side, size, 100 * (ratio if side == "B" else 1) * (1 + 0.005 * next(noise))))
    return csv("v,size,MBps", rows)


def simpson() -> str:
    """A is 15 % faster at each size; A was run most at the slow size, B at the fast one."""
    rows = []
    for fs, factor, counts in (("A", 1.15, (20, 4)), ("B", 1.0, (4, 20))):
        for (size, rate), n in zip((("4KiB", 100), ("1MiB", 500)), counts, strict=True):
            rows += [(fs, size, factor * rate * (1 + 0.02 * z)) for z in wobble(n, 3)]
    return csv("fs,size,MBps", rows)


X = (10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5)
ANSCOMBE = {
    "anscombe-1": (X, (8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68)),
    "anscombe-2": (X, (9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74)),
    "anscombe-3": (X, (7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73)),
    "anscombe-4": ((8,) * 7 + (19,) + (8,) * 3, (6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89)),
}


def anscombe(number: int) -> str:
    """One of the four tables with the same line."""
    return csv("x,y", zip(*ANSCOMBE[f"anscombe-{number}"], strict=True))


def lord() -> str:
    """Groups that began apart; ``after`` follows ``before`` in the same way in both."""
    rows = []
    for group, center in (("a", 100.0), ("b", 120.0)):
        for z, noise in zip(wobble(20, 7), wobble(20, 11), strict=True):
            before = center + 5 * z
            rows.append((group, before, 50 + 0.5 * before + 2 * noise))
    return csv("g,before,after", rows)


def survivorship() -> str:
    """B is slower: half of its trials met the time limit of 100 s and have no value, the others were the lucky ones."""
    rows = [("A", 50 + 5 * z) for z in wobble(10)]
    rows += [("B", 38 + 3 * z if place % 2 else None) for place, z in enumerate(wobble(10, 3))]
    return csv("v,time_s", rows)


def remeasured() -> str:
    """60 nodes that are alike; the slowest 8 were measured again."""
    first = [100 + 10 * z for z in wobble(60)]
    slowest = sorted(range(60), key=first.__getitem__)[:8]
    again = dict(zip(slowest, (100 + 10 * z for z in wobble(8, 3)), strict=True))
    rows = [(f"node{n:02}", 1, value) for n, value in enumerate(first)]
    return csv("node,round,y", [*rows, *((f"node{n:02}", 2, value) for n, value in again.items())])


def alike_nodes() -> str:
    """40 nodes that are alike, three trials each: one of them is the fastest all the same."""
    values = iter(wobble(120, 37))
    return csv("node,y", [(f"n{node:02}", 100 + 10 * next(values)) for node in range(40) for _ in range(3)])


def started(minute: int) -> str:
    """The time of a trial."""
    return f"2026-03-01T{10 + minute // 60:02}:{minute % 60:02}:00"


def drift(with_time: bool) -> str:
    """A ten times, then B ten times, while everything became slower."""
    rows = []
    for minute, z in enumerate(wobble(20)):
        time = [started(minute)] if with_time else []
        rows.append(["A" if minute < 10 else "B", *time, 100 - 0.8 * minute + 1.5 * z])
    return csv("v,start,y" if with_time else "v,y", rows)


def warm_up() -> str:
    """A, then B; the first four trials of the session were cold."""
    cold = (55.0, 65.0, 75.0, 85.0)
    rows = [
        ("A" if minute < 8 else "B", started(minute), (cold[minute] if minute < 4 else 100.0) + z)
        for minute, z in enumerate(wobble(16))
    ]
    return csv("v,start,y", rows)


def cliff_by_size() -> str:
    """A cache of 64 MiB: 5000 MB/s inside it, 200 beyond."""
    rows = [
        (size, (5000 if size <= 64 else 200) * (1 + 0.02 * z))
        for size in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
        for z in wobble(3, 2)
    ]
    return csv("file_mb,MBps", rows)


def growth(rates: Sequence[float], trials: int = 1) -> str:
    """Rates at 1, 2, 4, … nodes."""
    noise = [0.0] if trials == 1 else [0.02 * z for z in wobble(trials, 5)]
    return csv("nodes,MBps", [(2**place, float(rate) * (1 + z)) for place, rate in enumerate(rates) for z in noise])


def mixed_units() -> str:
    """Two of B's ten values were written in KB/s."""
    rows = [("A", 100 + 3 * z) for z in wobble(10)]
    rows += [("B", (100 + 3 * z) * (1000 if place in (3, 8) else 1)) for place, z in enumerate(wobble(10, 3))]
    return csv("v,MBps", rows)


def rates_as_text() -> str:
    """The response's cells have their units; the number of clients is the only column of numbers."""
    rows = []
    for fs, rate in (("nfs", 100), ("ceph", 150)):
        for clients in (1, 2, 4):
            rows += [(fs, clients, f"{rate * clients**0.5 + z:.1f} MB/s") for z in wobble(4, 3)]
    return csv("fs,clients,bandwidth", rows)


def ranks_as_trials(with_trial: bool) -> str:
    """No effect: three trials a side, eight ranks each; what differs is the trials' own mood."""
    moods = {"A": (-6.0, 1.0, -3.0), "B": (8.0, -1.0, 7.0)}
    rows = []
    for side, of_trials in moods.items():
        for trial, mood in enumerate(of_trials):
            for rank, z in enumerate(wobble(8, 4 + 1)):
                names = [trial, rank] if with_trial else [rank]
                rows.append([side, *names, 100 + mood + 2 * z])
    return csv("v,trial,rank,y" if with_trial else "v,rank,y", rows)


def host_goes_with_fs() -> str:
    """Each file system was measured on a host of its own."""
    rows = [("nfs", "h1", 100 + 3 * z) for z in wobble(8, 5)] + [("ceph", "h2", 140 + 3 * z) for z in wobble(8, 3)]
    return csv("fs,host,MBps", rows)


def copies_go_with_option() -> str:
    """Two labs: the second has a copy more, for which the file system itself switches an option off."""
    rows = [(1, "on", 1, 11.2 + 0.1 * z) for z in wobble(5, 4)] + [(2, "off", 2, 5.65 + 0.1 * z) for z in wobble(5, 2)]
    return csv("replica,client_io_threads,bring_up,MBps", rows)


def outcome_among_factors() -> str:
    """What was received follows the rate: no setting, and a number of its own in each row."""
    rows = []
    noise = iter(wobble(36, 5))
    for block in (1, 2, 4):
        for switch in ("off", "on"):
            for _ in range(6):
                rate = 50 + 10 * block + (20 if switch == "on" else 0) + 2 * next(noise)
                rows.append((f"{64 * block}k", switch, round(1e6 * rate + 3e5 * (block * 7 % 5)), rate))
    return csv("block,cache,received (bytes),write (MB/s)", rows)


def coarse_clock() -> str:
    """A clock of 10 ms: three readings of one tick, three of two; the true times may differ by nothing."""
    return csv("v,time_s", [("A", 0.01)] * 3 + [("B", 0.02)] * 3)


def one_trial_each() -> str:
    """One trial a setting, and five decades between them."""
    return csv("size,sync,KiBps", [("1KiB", "yes", 36.3), ("64KiB", "no", 5210.0), ("1MiB", "yes", 810000.0)])


def aliased() -> str:
    """Disk or flash, each with a set-up of its own: 100 against 900."""
    rows = [("disk", "s_disk", 101.0 + n) for n in range(4)] + [("flash", "s_flash", 901.0 + n) for n in range(4)]
    return csv("device,setup,mbs", rows)


def aliased_beside_clients(apart: int = 0) -> str:
    """A third column with a small effect; ``apart`` rows in which the two do not go together."""
    rows = []
    noise = iter(wobble(36, 5))
    for device, base in (("disk", 100), ("flash", 900)):
        for clients in (1, 2, 4):
            for repetition in range(6):
                pool = {"disk": "p1", "flash": "p2"}[device]
                if apart and clients == 2 and repetition < apart // 2:
                    pool = {"p1": "p2", "p2": "p1"}[pool]
                rows.append((device, pool, clients, base + 10 * clients + 5 * next(noise)))
    return csv("device,pool,clients,mbs", rows)


def nested() -> str:
    """Versions that each file system has of its own; the file systems differ, their versions do not."""
    rows = []
    noise = iter(wobble(24, 5))
    for fs, base in (("a", 100), ("b", 200)):
        for version in ("1", "2"):
            rows += [(fs, f"{fs}{version}", base + 3 * next(noise)) for _ in range(6)]
    return csv("fs,version,y", rows)


def collinear() -> str:
    """Bytes are 4096 times blocks."""
    noise = iter(wobble(20, 7))
    rows = [(blocks, 4096 * blocks, 10 + 5.0 * blocks + next(noise)) for blocks in (1, 2, 4, 8, 16) for _ in range(4)]
    return csv("blocks,amount_bytes,seconds", rows)


def ior_settings() -> str:
    """IOR repeats one setting in several columns: its option ``t`` beside the transfer size, and what follows from
    both."""
    rows = []
    noise = iter(wobble(12, 5))
    for option, size, rate in (("64k", 65536, 200), ("1m", 1048576, 900)):
        rows += [(option, size, 8, size * 128, rate + 10 * next(noise)) for _ in range(6)]
    return csv("t,transfer_size,ranks,aggregate_size,write_mbs", rows)

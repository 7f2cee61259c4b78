"""Measured capabilities of the hardware: network, disks, memory, CPU time; and their storage with later runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iosonde.core.errors import IncompleteError, InputError, TargetError
from iosonde.core.filesystems import MEMORY_TYPES, is_network
from iosonde.core.hardware import SHARED_MEMORY, UNSEEN
from iosonde.core.levels import check_level
from iosonde.core.message import Message, spell
from iosonde.core.stored import CONCURRENT_PROCESSES, StoredRun
from iosonde.core.timestamps import format_now
from iosonde.core.types import Estimate, Experiment, Factor, Run
from iosonde.measure import design
from iosonde.measure.probe import repetition
from iosonde.measure.probe.local import TRANSFER
from iosonde.measure.probe.repetition import ProbeBench
from iosonde.measure.probe.servers import ServerDisks
from iosonde.measure.target.keeper import Keeper
from iosonde.measure.target.space import Limits, Need
from iosonde.ranks import launch, machine, rollcall
from iosonde.ranks.launch import Launcher, mpirun
from iosonde.stats.overview import hardware
from iosonde.store import Store
from iosonde.store.lock import lock_experiment

from . import preflight, turn
from .caller import Caller, TrialProgress
from .campaign import create_experiment_id, draw_seed
from .request import ProbeRequest

Facts = dict[str, Any]

JSON_VERSION = 1


@dataclass(frozen=True)
class Probed:
    """Results over ``n`` complete repetitions. ``facts`` has an Estimate of everything
    (``stats.overview.hardware.summarise_probe``), ``slowest`` the value of the slowest link and node."""

    facts: Facts
    slowest: Mapping[str, float]
    warnings: tuple[str, ...]
    n: int
    level: float
    experiment: str = ""
    store: str = ""
    missing: IncompleteError | None = None

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON form."""
        content = hardware.to_json(self.facts)
        return {"version": JSON_VERSION, "experiment": self.experiment, **content, "warnings": list(self.warnings)}

    def records(self) -> list[dict[str, Any]]:
        """Return a row per quantity of a pair of nodes, a link, a node, or a server's disk."""
        parts = [(kind, " – ".join(row["hosts"]), row) for kind in ("pairs", "tcp") for row in self.facts[kind]]
        parts += [("nodes", row["host"], row) for row in self.facts["nodes"]]
        parts += [
            ("servers", f"{server['host']}:{disk['dir']}", disk)
            for server in self.facts["servers"]
            for disk in server["disks"]
        ]
        return [
            {"of": kind, "where": where, "quantity": name, **value.flat("value")}
            for kind, where, row in parts
            for name, value in row.items()
            if isinstance(value, Estimate)
        ]

    def check(self) -> None:
        """Raise IncompleteError if a repetition was incomplete."""
        if self.missing:
            raise self.missing


def summarise_repetitions(repetitions: Sequence[Facts], level: float, mount: Facts | None = None) -> Probed:
    """Summarise the facts of complete repetitions; ``mount`` is that of the written directory, if any."""
    facts = hardware.summarise_probe(repetitions, level)
    return Probed(
        facts,
        hardware.find_slowest_parts(facts),
        tuple(list_probe_warnings(facts, mount or {})),
        len(repetitions),
        level,
    )


def probe_nodes(probe_request: ProbeRequest, level: float = 0.95, caller: Caller | None = None) -> Probed:
    """Measure the network between every pair of nodes, disks, memory and CPU time, and store the results.

    Writes only below TARGET/iosonde-ID, and removes it. Raises InputError, TargetError, LaunchError if it cannot start;
    IncompleteError if no repetition is complete. An incomplete repetition ends the probe; ``check`` raises it.
    """
    caller = caller or Caller()
    check_level(level)
    servers = _read_servers(probe_request)
    with preflight.open_keeper(probe_request.idle_timeout, caller.waiting) as keeper:
        place = keeper.resolve(Path(probe_request.target)) if probe_request.target is not None else None
        launcher = launch.find_launcher(
            probe_request.launcher, mpirun.read_hosts(probe_request.hosts) if probe_request.hosts else ()
        )
        count = 0 if probe_request.only_servers else probe_request.nodes or launcher.max_nodes or 1
        launch.check_nodes(launcher, count)
        if place:
            _check_target(keeper, place, Path(probe_request.store).resolve(), probe_request.size)
        if launcher.name != "local" and count:
            rollcall.call_roll(launcher, count, targets=(place,) if place else ())
        facts: machine.Facts = {
            **machine.collect_node_facts(),
            **(keeper.facts(place) if place else machine.collect_target_facts(Path.cwd())),
        }
        if place:
            _check_room(keeper, place, facts, probe_request.size, count)
        experiment = _build_experiment(probe_request, count, place, servers)
        bench = replace(_build_bench(probe_request, experiment, launcher, count, place, facts, caller), servers=servers)
        here = turn.is_here(launcher.addresses(count))
        with turn.hold_machine(turn.Turn(probe_request.wait, probe_request.alongside), here, caller.say):
            runs = _measure_repetitions(bench, experiment, Path(probe_request.store).resolve(), keeper, caller)
    return _summarise_runs(probe_request, runs, facts["mount"] if place else None, level)


def _summarise_runs(probe_request: ProbeRequest, runs: Sequence[Run], mount: Facts | None, level: float) -> Probed:
    complete = [run for run in runs if run.complete]
    missing = None
    if len(complete) < len(runs):
        failed = next(run for run in runs if not run.complete)
        missing = IncompleteError(
            "incomplete-repetitions",
            "{incomplete} of {repetitions} repetitions are incomplete: {reason}",
            "fix the cause and probe again"
            + ("; remove silent nodes from {spell.hosts}" if probe_request.hosts else ""),
            incomplete=len(runs) - len(complete),
            repetitions=len(runs),
            reason=failed.missing[0],
        )
    if missing and not complete:
        raise missing
    probe_result = summarise_repetitions([run.facts for run in complete], level, mount)
    return replace(probe_result, experiment=complete[0].experiment, store=probe_request.store, missing=missing)


def attach_probe(run: Run, probes: Sequence[StoredRun], level: float) -> Run:
    """Return the run with the known properties of its hardware: ``facts.probe``, and the slowest of everything as
    factors."""
    probe_facts = hardware.summarise_newest_probe(probes, run.facts["hosts"], level)
    if probe_facts:
        run.facts["probe"] = hardware.to_json(probe_facts)
        run.factors |= {**hardware.find_slowest_parts(probe_facts), **hardware.describe_servers(probe_facts)}
    return run


def list_probe_warnings(facts: Facts, mount: Facts) -> list[Message]:
    """Warn about misleading numbers."""
    messages = []
    media = {pair["medium"] for pair in facts["pairs"]}
    if SHARED_MEMORY in media:
        messages.append(
            Message("shared-memory-network", "ranks on one host communicate through shared memory, not a network")
        )
    if UNSEEN in media:
        messages.append(
            Message(
                "network-not-used",
                "the interfaces of the nodes did not count the messages: the MPI library took another way than "
                "the network (with MPICH try UCX_TLS=tcp,self), or an adapter without counters",
            )
        )
    if facts["tcp_error"]:
        messages.append(
            Message("tcp-incomplete", "TCP was not measured everywhere: {reason}", reason=facts["tcp_error"])
        )
    if facts["nodes"] and not facts["pairs"]:
        messages.append(
            Message(
                "one-node",
                "one node has no network to measure; add nodes with {spell.nodes} or {spell.hosts}",
            )
        )
    if mount.get("type") in MEMORY_TYPES:
        messages.append(
            Message("target-in-memory", "the target is {type}, in memory: its 'disk' is none", type=mount["type"])
        )
    if _is_network(mount):
        kind = f"fuse of {mount['source']}" if mount["type"] == "fuse" else mount["type"]
        messages.append(
            Message(
                "target-on-network",
                "the target is {type}: its 'disk' is the servers', their caches and the network in between",
                type=kind,
            )
        )
    return messages


def _read_servers(probe_request: ProbeRequest) -> ServerDisks | None:
    """Return the servers and their disks, if any were named. Raises InputError."""
    if probe_request.servers is None and not probe_request.disk_dir:
        return None
    if probe_request.servers is None or not probe_request.disk_dir:
        raise InputError(
            "options-require-each-other",
            "{spell.servers} and {spell.disk_dir} need each other",
            "give both: the servers, and a directory on each disk",
        )
    near = next((path for path in probe_request.disk_dir if not Path(path).is_absolute()), None)
    if near is not None:
        raise InputError(
            "relative-path",
            "{spell.disk_dir:{path}} is relative",
            "give its absolute path on every server, as /data/brick1",
            path=near,
        )
    _check_size(probe_request.size)
    file = Path(probe_request.servers)
    hosts = (
        mpirun.read_hostfile(file) if file.exists() else mpirun.parse_hosts(probe_request.servers.replace(",", "\n"))
    )
    wrong = next((host for host in hosts if not mpirun.HOST_NAME.fullmatch(host)), None)
    if wrong is not None or not hosts:
        raise InputError(
            "unknown-host",
            "{spell.servers}: '{host}' is neither a file nor a host name",
            "a file with one host per line, or names as s1,s2",
            host=wrong or probe_request.servers,
        )
    return ServerDisks(hosts, probe_request.disk_dir)


def _check_size(size: int) -> None:
    if size % TRANSFER or not size:
        raise InputError(
            "invalid-size", "{spell.size:{size}} is not a multiple of 1 MiB", "write it like 256MiB", size=size
        )


def _is_network(mount: Facts) -> bool:
    return is_network(mount.get("type") or "", mount.get("source") or "")


def _check_target(keeper: Keeper, target: Path, store: Path, size: int) -> None:
    """Refuse a store or temporary files on the target, and an invalid target. Raises InputError, TargetError."""
    preflight.refuse_store_on_target(store, target)
    preflight.refuse_temporary_on_target(target)
    _check_size(size)
    keeper.check(target, Need(0, 0), Limits())


def _check_room(keeper: Keeper, target: Path, facts: machine.Facts, size: int, nodes: int) -> None:
    """Refuse a target with too little space or quota. Raises TargetError."""
    try:
        keeper.check(target, Need(nodes * size, 4 * nodes), Limits(), preflight.compute_quota_free(facts))
    except TargetError as error:
        hint = f"choose a smaller {spell.size}, fewer {spell.nodes}, or another target"
        raise error.with_words(error.message, hint) from error


def _build_experiment(
    probe_request: ProbeRequest, nodes: int, target: Path | None, servers: ServerDisks | None
) -> Experiment:
    seed = draw_seed()
    factors = [Factor("nodes", "nodes", (nodes,)), Factor("ranks_per_node", "ranks", (1,))]
    return Experiment(
        id=create_experiment_id(),
        name="probe",
        factors=factors,
        settings={
            "probe": {
                "target": str(target or ""),
                "size": probe_request.size,
                "nodes": nodes,
                "servers": list(servers.hosts) if servers else [],
                "disk_dir": list(probe_request.disk_dir),
            }
        },
        trials=design.build_trials(factors, {"kind": "full"}, range(probe_request.repetitions), 0, seed),
        seed=seed,
        created_at=format_now(),
    )


def _build_bench(
    probe_request: ProbeRequest,
    experiment: Experiment,
    launcher: Launcher,
    nodes: int,
    target: Path | None,
    facts: machine.Facts,
    caller: Caller,
) -> ProbeBench:
    return ProbeBench(
        experiment=experiment.id,
        launcher=launcher,
        nodes=nodes,
        target=target,
        size=probe_request.size,
        in_turn=_is_network(facts["mount"] or {}),
        facts={
            "machine": facts,
            "software": machine.describe_software(Path.cwd()),
            "command": machine.redact_words(caller.command),
            "launcher": launcher.name,
            "target": str(target or ""),
        },
        idle_s=probe_request.idle_timeout,
    )


def _measure_repetitions(
    bench: ProbeBench, experiment: Experiment, place: Path, keeper: Keeper, caller: Caller
) -> list[Run]:
    """Run all repetitions, each stored before the next; the first failure ends them."""
    store = Store.create(place)
    store.save_experiment(experiment)  # first: later commands can then remove what it leaves
    progress = caller.progress(repetition.estimate_network_seconds(bench.nodes, len(experiment.trials)))
    workspace = keeper.workspace(bench.target, experiment.id) if bench.target else None
    with lock_experiment(store.path, experiment.id):
        try:
            if bench.target and workspace:
                preflight.remove_leftovers(store, bench.target, experiment.id, keeper, caller.say)
                workspace.create(resumed=False, hold=True)
            return _run_repetitions(bench, experiment, store, progress, caller)
        finally:
            progress.clear()
            if workspace:
                workspace.remove()


def _run_repetitions(
    bench: ProbeBench, experiment: Experiment, store: Store, progress: TrialProgress, caller: Caller
) -> list[Run]:
    runs: list[Run] = []
    with caller.stopping() as stop:

        def on_tick(beats: list[Any]) -> None:
            stop.check()
            progress.tick(beats)

        for trial in experiment.trials:
            stop.check()
            progress.trial(trial, trial.index, len(experiment.trials))
            run_id = f"{experiment.id}-{trial.index:04d}"
            others = turn.list_other_processes()
            run = repetition.run_repetition(replace(bench, on_tick=on_tick), trial.repetition, run_id)
            run.facts |= (
                {CONCURRENT_PROCESSES: process_ids}
                if (process_ids := sorted({*others, *turn.list_other_processes()}))
                else {}
            )
            store.append(run)
            runs.append(run)
            if not run.complete:
                break
    return runs

"""Which answers are recorded (``answers.py``): command lines, and the small data that they are about."""

from __future__ import annotations

import atexit
import json
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import advised_sample
import bound_sample
import declared_sample
import diagnose_sample
import numpy as np
import test_bound_lab
import test_bound_own_probe
import test_campaign_against
import test_faults
import test_strata

import compare_sample
import corpus_sample
import fake_tree
import history_sample
import rank_sample
import sample_store
import tools_sample
from iosonde.core.types import Factor

TESTS = Path(__file__).parent
DATA = TESTS / "golden" / "data"

QUESTIONS = """questions:
  - question: Do nodes help?
    regress: {on: nodes, at: [nodes=4]}
    metric: read
"""
MANY_QUESTIONS = """questions:
  - question: How fast is it?
    summary: {by: [nodes, fs], columns: fs}
    metric: write
    published: 100 MiB/s
  - question: Which is faster?
    compare: {group: fs, levels: [afs, nfs], by: nodes}
    where: ["nodes<=2"]
  - question: What does a node bring?
    regress: {on: "nodes,fs", at: ["nodes=3,fs=nfs"]}
    metric: write
  - question: What to choose?
    advise: {choose: fs, given: nodes, current: "fs=afs"}
    metric: write
  - question: How does it look?
    plot: {x: nodes, color: fs}
    metric: read
  - question: How long does the application take?
    bound: {application: "write=nodes*1e9"}
    metric: copy
  - question: And of one node?
    summary: {by: [nodes, fs]}
    where: ["nodes=1"]
  - question: By what?
    summary: {by: nodes, columns: fs}
"""
MODELLED = """today: {clients: 4, servers: 4, network: 1MB/s, model: {network: 1, kind: x}}
candidates:
  ten: {network: x10, cost: 50, watts: 9, model: {network: 10}}
  far: {network: x20, cost: 70, model: {network: 2000}}
  kind: {servers: x2, cost: 20, model: {kind: y}}
"""
SIEVING = "sieving.csv --response mib_s --choose servers,stripe,sieving --given op,hole_kib,block_kib"
CASES: dict[str, tuple[str, ...]] = {
    "advise": (
        f"advise {SIEVING} --for op=write,hole_kib=100,block_kib=256",
        "advise few.csv --response speed --choose fs --given sync,size --current fs=lustre",
        "advise options --choose write_behind,cache",
        "advise sieving.csv --response mib_s --choose sieving --against again.csv --full --unweighted",
        "advise few.csv --response speed --choose fs,sync --given size --better lower",
    ),
    "anova": (
        "anova cp.csv --response real_s --on replicas --contrast 'replicas: 3 - 1'",
        "anova pulp.csv --response strength --on method*temperature --block day",
        "anova declared --on nodes,fs --experiment old --metric write",
        "anova pulp.csv --response strength --on method,temperature --block day --weighted --type 3",
        "anova bring_ups --on copies,size --metric write",
        "anova two_responses.csv --response z --on v --level 0.9",
        "anova few.csv --response log(speed) --on size*sync*fs",
    ),
    "bound": (
        "bound --clients 8 --servers 4 --disks 8 --net 117MB/s --disk 25MB/s --cpu 0.02s/MB --data 3GB",
        "bound writes.csv --response write_kb_s --unit KiB/s --by fs --net 94.11Mbit/s",
        "bound --clients 4 --servers 2 --net 11.9MB/s --application compute=0.8,read=33554432,write=134217728",
        "bound --clients 4 --servers 8 --disks 8 --net 1Gbit/s --disk 60MB/s --erasure 4+2 --chunk 128KiB"
        " --request 128KiB",
        "bound losses --servers 2 --net 1GB/s --waterfall",
        "bound --probe netperf.txt --probe iozone.txt --server-memory 512MiB --servers 4 --disks 4 --operation read",
        "bound --cluster upgrade.yaml --data 3GB --client-memory 1GiB",
        "bound --clients 4 --servers 4 --net 1GB/s --latency 2ms --request 64KiB --queue-depth 4 --memory-copy 5GB/s",
        "bound --clients 2 --servers 4 --net 1GB/s --metadata-rate 800 --metadata-operations 2 --file-size 64KiB",
        "bound --clients 2 --servers 8 --net 1GB/s --stripe 2 --files 3 --placement random",
        "bound --clients 2 --servers 6 --server-net 1GB/s --replicas 3 --redundancy chained --fabric 2GB/s --stripe 3",
        "bound declared --experiment old --servers 2 --net 200MiB/s --disk 90MiB/s --disks 2",
        "bound probed",
        "bound probed --disk 160MB/s --disks 1 --level 0.9",
        "bound attached --net 1GB/s",
        "bound attached --disks 2 --net 1GB/s",
        "bound labs",
        "bound labs --by servers --disk 5MB/s",
        "bound times.csv --response time --by nodes --clients nodes --net 10MB/s"
        " --application 'compute=steps*0.1,write=nodes*steps*1e6'",
        "bound times.csv --response time --by nodes --net 10MB/s --data 20MB --clients 2 --client-memory 16MB",
    ),
    "check": (
        "check suspicious.csv --bound 1GB/s",
        "check cp.csv --noise",
        "check results",
        "check before",
        "check faulty",
        "check io500",
        "check few.csv --response speed --by fs,size",
        "check in_turn.csv --by v",
        "check moved --experiment all",
        "check labs",
        "check bring_ups",
    ),
    "compare": (
        "compare before after",
        "compare cp.csv --response real_s --group replicas 1 3 --level 0.9",
        "compare cp.csv --response real_s --group replicas",
        "compare declared --group fs nfs afs --experiment old --by nodes --fail-if 'slower>5%'",
        "compare before before",
        "compare variants.csv --response seconds --group variant alpha beta --pair block,size --margin 5%",
        "compare variants.csv --response seconds --group variant alpha beta --adjust none --fail-if more>10% --strict",
        "compare confounded.csv --response seconds --group variant alpha beta",
        "compare faulty --group fault --incomplete",
        "compare before after --markdown",
        "compare pairs",
        "compare in_turn.csv --group v a b",
        "compare in_turn.csv --group v a b --response log(speed) --margin 20% --level 0.9",
        "compare holes.csv --group v a b",
        "compare again_rounds.csv --group round first second --pair node",
        "compare wide.csv --response old,new --by nodes",
        "compare wide.csv --response old --b-summary mean=2.5,sd=0.4,n=6,name=paper --by nodes",
        "compare two_responses.csv --group v --response y,z",
        "compare two_responses.csv --group v b a --response log2(y) --margin 10%",
        "compare ranks.csv --group v",
        "compare first.csv second.csv",
        "compare second.csv first.csv --by size --level 0.9 --response seconds",
        "compare first.csv second.csv --pair size --adjust none",
        "compare first.csv first.csv",
        "compare iterated iterations",
        "compare few.csv wide.csv",
        "compare lonely_ranks.csv --group v",
        "compare load.csv --group v --response seconds --margin 1%",
        "compare resembling.csv --group v",
        "compare iterated --group nodes",
        "compare iterations --group nodes",
        "compare bring_ups --group copies",
        "compare bring_ups --group size --level 0.9",
        "compare declared --experiment all --group experiment",
        "compare declared --experiment all --group experiment new old --by nodes --metric write",
        "compare results --group nodes",
        "compare --a-summary mean=147,sd=138,n=3,name=old --b-summary mean=203,sd=9,n=5,name=new",
    ),
    "corpus": ("corpus io500 --on nodes,api,year --mine submission=s05-0",),
    "diagnose": (
        "diagnose causes",
        "diagnose reads.csv",
        "diagnose losses --bandwidth silverman --name fast=cached",
        "diagnose pieces",
    ),
    "explain-difference": (
        "explain-difference --store tools zeus-0000@ior zeus-0000@iozone --operation write_large",
        "explain-difference --store tools zeus-0000@mdtest zeus-0000@iosonde --operation create",
        "explain-difference two/ior.txt two/iozone.txt",
        "explain-difference --store tools zeus-0000@ior zeus-0001@ior --operation read_shared",
        "explain-difference tools:zeus-0000@fio tools:zeus-0000@elbencho/first --operation write_large",
        "explain-difference fio.json elbencho.json",
        "explain-difference fio.json two/ior.txt --operation write",
        "explain-difference mdtest.txt mdtest3.txt --operation file_creation",
        "explain-difference two/iozone.txt elbencho.json --operation write",
        "explain-difference dd.txt two/ior.txt --operation copy,write",
    ),
    "fit": (
        "fit few.csv --response speed --on size,sync --family loglinear,tree --folds 4 -o model.json",
        "predict model.json size=1024 sync=no",
        "predict model.json size=1500 sync=yes --level 0.8",
        "predict model.json size=100000 sync=yes",
        "predict model.json --describe",
        "validate few.csv --response speed --on size,sync --family mean,linear --folds 3 --curve",
        "validate few.csv --model model.json",
        "validate two_responses.csv --response z --on v,place --family mean,linear,tree --folds 4 --inverse",
        "fit two_responses.csv --response z --on v,place --family neighbours,linear --folds 5 -o z.json",
        "validate two_responses.csv --model z.json --level 0.8",
        "predict z.json --level 0.9 v=b place=3",
        "predict z.json v=c place=3",
        "fit few.csv --response speed --on size,fs,sync --family tree --rules --constraint 'size <= 1024' -o tree.json",
        "predict tree.json --describe",
        "validate few.csv --response speed --on size,fs --family linear --leave-out fs",
        "validate few.csv --response speed --on size,fs --family linear,tree --split 0.75",
    ),
    "parse": (
        "parse elbencho.txt ior/t1m-1.txt",
        "import -r ior --store imported --factors-from ior/t{size}-{number}.txt",
        "summary imported",
    ),
    "plan": (
        "plan --target scratch --nodes 1 --seed 7 --quick",
        "plan echo --nodes 1 --repetitions 3 --seed 1",
        "plan what_matters.yaml --target scratch --seed 1",
        "plan echo --against true --seed 1 --budget 30min --fail-if 'slower>5%'",
    ),
    "plot": (
        "plot writes.csv --response write_kb_s --json",
        "plot writes.csv --response write_kb_s --kind heatmap --json",
        "plot results --kind bars --json",
        "plot losses --kind latency --json",
        "plot losses --kind timeline --json",
        "plot tools --kind time --metric write_large --json",
        "plot losses --kind percentiles --json",
        "plot cp.csv --on replicas --response real_s --json",
        "plot declared --experiment old --metric write --x nodes --color fs --json",
        "plot totals.json --bars --json",
        "plot few.csv --response speed --x size --color fs --panel sync --json",
        "plot cp.csv --response real_s --json",
        "plot writes.csv --on log2(processes),fs --response write_kb_s --together --json",
        "plot few.csv --response speed --kind heatmap --x size --color fs --json",
        "plot faulty --kind time --json",
        "plot two_responses.csv --response y,z --x v --json",
        "plot ranks.csv --x v --json",
        "plot bring_ups --x size --color copies --metric write --json",
        "plot in_turn.csv --response speed --on place --json",
        "plot iterated --json",
        "plot declared --experiment all --x nodes --color fs --panel experiment --json",
        "plot tools --kind latency --metric write_large --json",
    ),
    "rank": (
        "rank factorial.csv --response write --on network,servers,base_fs",
        "rank factorial.csv --response write --on network,servers,base_fs --all",
        "rank declared --experiment old",
        "rank sieving.csv --response mib_s --fixed op",
        "rank --coefficients published.csv --levels servers=1,2,4",
        "rank two_responses.csv",
        "rank few.csv --response log2(speed) --on size,sync,fs",
        "rank factorial.csv --response write --block hardware=network,servers --block software=base_fs",
    ),
    "regress": (
        "regress cp.csv --response real_s --on replicas --at replicas=9 --level 0.9",
        "regress writes.csv --response write_kb_s --on 'log2(processes),fs'",
        "regress cp.csv --response real_s --on replicas --robust --without 5,9 --new 3 --at replicas=2",
        "regress few.csv --response speed --on log2(size),sync --level 0.9",
        "regress two_responses.csv --on v --response z --at v=b",
        "regress two_responses.csv --on v,place --response y",
        "regress declared --experiment old --on log2(nodes),fs --metric write",
        "regress bring_ups --on copies,size --metric write",
        "regress --sums sums.json --level 0.9 --at x=1 --at x=9",
    ),
    "report": (
        "report results --json",
        "report writes.csv --response write_kb_s --by fs --bound net=94.11Mbit/s,unit=KiB/s --json",
        "report losses --json",
        "report empty --json",
        "report io500 --json",
        "report few.csv --response speed --choose fs --given sync,size --current fs=lustre --json",
        "report faulty --json",
        "report tools --json",
        "report declared --experiment old --metric write --bound servers=2,net=200MiB/s --json",
        "report declared --experiment old --metric write --on nodes --json",
        "report results --questions questions.yaml --json",
        "report labs --json",
        "report bring_ups --level 0.9 --json",
        "report iterated --json",
        "report declared --experiment new --metric write --choose fs --given nodes --current fs=afs --json",
        "report two_responses.csv --response y,z --json",
        "report declared --experiment old --questions many.yaml --metric read --json",
    ),
    "scale": (
        "scale declared --on nodes --experiment new --metric write,read --where fs=nfs --level 0.9 --at 8,16",
        "scale bring_ups --on size --metric write --by copies",
        "scale writes.csv --on processes --response write_kb_s --by fs --where fs=NFS --at 20,100",
        "scale declared --on nodes --experiment old --by fs",
        "scale cp.csv --on replicas --response real_s --of-time --at 16",
        "scale --station cpu=1ms --station disk=2ms:4 --arrivals 300 --at 1,10 --operations-per-phase 10 --spread 0.5",
        "scale --station client=5ms:delay --station network=0.02ms --station server=0.5ms:16queues --at 1,64,10000",
    ),
    "show": (
        "show results",
        "show results envelope-7f3a-0000",
        "show results --where nodes>=2 --where complete=true",
        "show results --where nodes=2 --export json --incomplete",
        "show results --slowest 4",
        "show tools --as ior",
        "show tools --as mdtest",
        "show tools --as iozone",
        "show tools zeus-0001 --as fio",
        "show tools zeus-0001 --as elbencho",
        "show results --export csv --where nodes=1",
        "show results --thesis-json",
        "show tools --where ranks>=1",
        "show declared --experiment old --where fs=afs",
        "show declared --experiment new --where nodes=1 --where repetition<1 --export csv",
        "show faulty --incomplete --export json --where fault=stop",
        "show faulty",
        "show losses w-0 --slowest 3",
        "show io500 --where api=POSIX",
    ),
    "store": (
        "store check results",
        "store tag results envelope-7f3a-0000 baseline odd",
        "store tag results envelope-7f3a-0000 --remove odd",
        "store merge all results tools",
        "store merge all results",
        "store check all",
    ),
    "summary": (
        "summary cp.csv --response real_s --by replicas --level 0.9",
        "summary results",
        "summary losses",
        "summary declared --experiment old --by nodes --metric write",
        "summary before",
        "summary faulty",
        "summary faulty --incomplete --quantiles",
        "summary few.csv --response speed --all --columns fs",
        "summary writes.csv --response write_kb_s --by fs,processes --columns fs --unit KB/s",
        "summary io500",
        "summary cp.csv --response log(real_s) --quantiles",
        "summary two_responses.csv",
        "summary two_responses.csv --response y,log(z) --by v --all",
        "summary bring_ups",
        "summary bring_ups --by size --level 0.9",
        "summary declared --experiment all --by experiment,fs --columns fs",
        "summary ranks.csv --by v",
        "summary iterated",
        "summary iterations",
    ),
    "survey": (
        "survey plan --population 300000000 --capacity 50PB --rate 5GiB/s",
        "survey tree /data --files-from sizes.txt --files 160 --what-if compress=lz4,older=1y --what-if archive=64KiB",
        "survey tree /data --files-from names.txt --files 120 --level 0.9 --seed 3 --what-if compress=zstd:3,older=1y"
        " --what-if compress=gzip,type=text,larger=1KiB --what-if archive=64KiB --what-if compress=lz4,type=none",
        "survey tree /data --files-from names.txt --allocated --until 20% --codecs lz4",
        "survey tree /data --files 100 --codecs none",
        "survey tree /data --files 200 --by directory",
        "survey tree /data --files 60 --by directory:1 --allocated --codecs lz4 --what-if compress=lz4,type=TIFF",
        "survey tree /data --files 60 --store surveys --level 0.9 --snapshots",
        "survey tree /data --files 80 --store surveys --seed 1",
        "summary surveys",
        "report surveys --json",
    ),
    "time-model": (
        "time-model --size 256KiB --observed 0.5us,30us,2.5ms,11ms --mode-switch 0.3us --copy 10GB/s --network 125MB/s"
        " --network-latency 50us --device-copy 2GB/s --device 150MB/s --prepare 8ms",
        "time-model ops.csv --response time_us --on size --by state --size 1MiB --observed 8ms",
        "time-model ops.csv --response time_us --on size --by state --mixture",
        "time-model losses --mode-switch 0.3us --copy 10GB/s --network 1GB/s --network-latency 50us --device-copy 2GB/s"
        " --device 300MB/s --prepare 15ms",
        "time-model results --copy 10GB/s --network 125MB/s --network-latency 30us --device-copy 1GB/s --device 150MB/s"
        " --by nodes --level 0.9",
        "time-model causes --where operation=read --mode-switch 5us --copy 4GB/s --network 300MB/s --device-copy 2GB/s"
        " --device 100MB/s",
        "time-model ops.csv --response time_us --on size --size 1MiB --level 0.8",
        "time-model --size 1MiB --parts parts.yaml --state sequential --mixture --observed 1ms",
    ),
    "upgrade": (
        "upgrade upgrade.yaml --order money",
        "upgrade cluster_atom.yaml",
        "upgrade upgrade.yaml --order watt --level 0.8",
        "fit net.csv --response rate --on network,kind --family linear -o net.json",
        "upgrade modelled.yaml --model net.json --level 0.9",
        "fit net.csv --response 'time (s)' --on network,kind --family tree -o time.json",
        "upgrade modelled.yaml --model time.json",
        "upgrade modelled.yaml",
    ),
    "verify": ("verify pieces", "verify results", "verify losses", "verify tools", "verify faulty --incomplete"),
    "watch": (
        "watch steps",
        "watch steps --since 2026-08-01",
        "watch quiet",
        "watch moved --since nightly-20260706-0000 --least 5% --min-segment 4 --level 0.9 --looks 4",
        "watch moved --newest 5 --looks 10 --false-alarms 20%",
        "watch declared",
    ),
}


def _copy(source: Path) -> Callable[[str], object]:
    return lambda name: shutil.copy(source, name)


def _text(text: str) -> Callable[[str], object]:
    return lambda name: Path(name).write_text(text, encoding="utf-8")


def _write_few(name: str) -> None:
    lines = (DATA / "sizes_by_fs.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    few = [line for line in lines if line.startswith(("4,", "64,", "1024,")) and "afs" not in line]
    Path(name).write_text("".join([lines[0], *few]), encoding="utf-8")


def _write_sieving(name: str) -> None:
    lines = (DATA / "sieving_384.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    few = [line for line in lines if line.split(",")[1] in ("32", "184", "1024")]
    Path(name).write_text("".join([lines[0], *few]), encoding="utf-8")


def _write_sieving_again(name: str) -> None:
    """The same settings, 2 % faster."""
    _write_sieving(name)
    header, *rows = (line.rsplit(",", 1) for line in Path(name).read_text(encoding="utf-8").splitlines())
    again = [",".join(header), *(f"{setting},{float(rate) * 1.02:.3f}" for setting, rate in rows)]
    Path(name).write_text("\n".join(again) + "\n", encoding="utf-8")


def _write_variants(name: str) -> None:
    """Beta takes 1.16 times as long as alpha; ``confounded``: on another host, too."""
    rng = np.random.default_rng(3)
    rows = [
        f"{variant},{size},{block}{f',host-{variant}' if name == 'confounded.csv' else ''},"
        f"{size * np.exp(0.15 * (variant == 'beta') + 0.02 * block + rng.normal(0, 0.05)):.4f}"
        for block in range(4)
        for variant in ("alpha", "beta")
        for size in (4, 16)
    ]
    header = f"variant,size,block{',host' if name == 'confounded.csv' else ''},seconds"
    Path(name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def _write_reads(name: str) -> None:
    """Every 16th read of 64 KiB is slow."""
    rng, lines, now = np.random.default_rng(7), ["start_us,rank,op,offset,size_KiB,latency_us"], [0.0, 0.0]
    for number in range(400):
        for rank in (0, 1):
            took = rng.lognormal(6.5 if number % 16 == 0 else 3.0, 0.15)
            lines.append(f"{now[rank]:.3f},{rank},read,{number * 65536},64,{took:.3f}")
            now[rank] += took + 0.5
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_operation_times(name: str) -> None:
    rows = [
        f"{size},{start + size / rate + (i * 7 % 5 - 2) * 0.1:.3f},{state}"
        for state, start, rate in (("cached", 1, 10000), ("remote", 50, 125))
        for size in (4096, 65536, 1048576)
        for i in range(5)
    ]
    Path(name).write_text("\n".join(["size,time_us,state", *rows]) + "\n", encoding="utf-8")


def _store_causes(path: str) -> None:
    """Every 16th read of two ranks is slow, and all of one trial's first tenth."""
    rng = np.random.default_rng(7)
    rules = (
        lambda rank, number, offset: number % 16 == 0,
        lambda rank, number, offset: (number % 16 == 0) | (number < 40),
    )
    diagnose_sample.store(path, [diagnose_sample.rows(400, 2, rule, rng) for rule in rules])


def _write_sums(name: str) -> None:
    sums = {"n": 44, "sum_x": 157, "sum_x2": 747, "b0": 168.12, "b1": 20.25, "SSR": 76590.4, "SSE": 61437.46}
    Path(name).write_text(json.dumps(sums), encoding="utf-8")


_PLACES = range(20)


def _write_in_turn(name: str) -> None:
    """A, then B, while everything becomes slower: more than lies between them."""
    rows = [
        f"{'ab'[place // 10]},{place},2026-11-21T10:{place:02}:00,{100 - 0.8 * place + place * 7 % 5 * 0.3:.2f}"
        for place in _PLACES
    ]
    Path(name).write_text("\n".join(["v,place,start,speed", *rows]) + "\n", encoding="utf-8")


def _write_holes(name: str) -> None:
    """Seconds of A and B, of which B lacks the half."""
    rows = [f"{'ab'[p // 10]},{'' if p > 9 and p % 2 else 10 + p * 7 % 5 * 0.3 + p // 10}" for p in _PLACES]
    Path(name).write_text("\n".join(["v,seconds", *rows]) + "\n", encoding="utf-8")


def _write_rounds(name: str) -> None:
    """Nodes that are alike in the first round, and the slowest of them again."""
    first = {node: 100 + node * 37 % 60 * 0.5 for node in range(60)}
    slowest = sorted(first, key=lambda node: first[node])[:8]
    rows = [f"n{node:02},first,{value}" for node, value in first.items()]
    rows += [f"n{node:02},second,{112 + node * 13 % 9}" for node in slowest]
    Path(name).write_text("\n".join(["node,round,MB/s", *rows]) + "\n", encoding="utf-8")


def _write_wide(name: str) -> None:
    """Seconds of each trial before and after, of 1 and 2 nodes."""
    rows = [f"{1 + p % 2},{2 + p % 2 + p * 7 % 5 * 0.1:.1f},{2.2 + p % 2 + p * 3 % 5 * 0.1:.1f}" for p in _PLACES]
    Path(name).write_text("\n".join(["nodes,old,new", *rows]) + "\n", encoding="utf-8")


def _write_two_responses(name: str) -> None:
    """Times y, and rates z of which B has twice as much."""
    rows = [f"{'ab'[p % 2]},{p},{1 + p * 7 % 5 * 0.1:.1f},{(1 + p % 2) * (4 + p * 3 % 7 * 0.1):.2f}" for p in _PLACES]
    Path(name).write_text("\n".join(["v,place,y (s),z (MB/s)", *rows]) + "\n", encoding="utf-8")


def _write_ranks(name: str) -> None:
    """Four ranks of each trial: the trials differ more than their ranks."""
    rows = [
        f"{v},{trial},{rank},{100 + 9 * (v == 'b') + trial * 5 % 4 * 3 + rank * 3 % 4 * 0.5}"
        for v in "ab"
        for trial in range(4)
        for rank in range(4)
    ]
    Path(name).write_text("\n".join(["v,trial,rank,MB/s", *rows]) + "\n", encoding="utf-8")


def _write_lonely_ranks(name: str) -> None:
    """Ranks of trials that no column names."""
    rows = [f"{'ab'[p % 2]},{p // 4},{100 + 90 * (p % 2) + p % 3}" for p in range(16)]
    Path(name).write_text("\n".join(["v,rank,MB/s", *rows]) + "\n", encoding="utf-8")


def _write_net(name: str) -> None:
    """What follows from the speed of a network."""
    rows = [f"{1 + p % 10},{'xy'[p // 10]},{(1 + p % 10) * 3 + p // 10 + p * 7 % 5 * 0.1:.1f}" for p in _PLACES]
    rows = [f"{row},{60 / float(row.rpartition(',')[2]):.4f}" for row in rows]
    Path(name).write_text("\n".join(["network,kind,rate (MB/s),time (s)", *rows]) + "\n", encoding="utf-8")


def _write_version(name: str) -> None:
    """Sizes of the first version, and of the second, which has a mode, too; each has a size of its own."""
    is_second = name == "second.csv"
    modes = [f",{(p // 8) % 2 or ''}" if is_second else "" for p in _PLACES]
    speed = 0.9 if is_second else 1
    sizes = enumerate([1, 2, 4, 8 + is_second] * 5)
    rows = [f"{size}{modes[p]},{size * speed + p * 7 % 5 * 0.02:.3f}" for p, size in sizes]
    rows = [f"{row},{'old' if not is_second else 'new'},{10 + place % 3}" for place, row in enumerate(rows)]
    header = f"size{',mode' if is_second else ''},seconds,host,MB/s"
    Path(name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def _write_load(name: str) -> None:
    """B was measured under more load, which differs in each trial."""
    rows = [
        f"{'ab'[p % 2]},{10 + p * 7 % 5 * 0.37 + p * 0.013 + 4 * (p % 2):.3f},{30 + p * 3 % 7 * 0.1:.1f}"
        for p in _PLACES
    ]
    Path(name).write_text("\n".join(["v,load,seconds", *rows]) + "\n", encoding="utf-8")


def _write_resembling(name: str) -> None:
    """A wave of 20 rows under both sides, one after the other."""
    rows = [f"{'ab'[p // 30]},{100 + 5 * np.sin(p / 3.2) + p // 30 * 3 + p * 7 % 5 * 0.1:.3f}" for p in range(60)]
    Path(name).write_text("\n".join(["v,MB/s", *rows]) + "\n", encoding="utf-8")


def _store_pieces(path: str) -> None:
    """Every 16th read of two ranks is slow, and some failed; too many to read at once."""
    rng = np.random.default_rng(8)
    trials = [diagnose_sample.rows(1100, 2, lambda rank, number, offset: number % 16 == 0, rng) for _ in range(2)]
    for trial in trials:
        trial["status"][5::500] = 5
        trial["size"][7::9] = 4096
    diagnose_sample.store(path, trials)


def _store_moved(path: str) -> None:
    """Slower from the 9th day on with another kernel, and faster for good from the 20th with the same commit."""
    values = [(100 if day < 8 else 90 if day < 19 else 120) + day * 7 % 5 * 0.3 for day in range(30)]

    def build_facts(day: int) -> dict[str, object]:
        commit = {} if day < 12 else {"subject_commit": "c" * 40}
        return {"hosts": ["n1"], "machine": {"host": {"kernel": f"6.{1 + (day >= 8)}"}}, **commit}

    history_sample.write_values(Path(path), [1e6 * value for value in values], facts=build_facts)


def _store_attached(path: str) -> None:
    """Runs that kept a probe, on two servers that pass copies on; the third cell's runs disagree about it."""
    estimate = {"value": 180e6, "low": 170e6, "high": 190e6, "level": 0.95, "n": 3, "warnings": []}
    node = {"host": "a", "cores": 1, "disk_write": estimate, "disk_read": estimate}
    probe = {"pairs": [], "nodes": [node], "warnings": [], "target": "/data", "own_disk": True}
    layout = {"copies": 2, "copied_by": "servers", "servers": ["s1", "s2"]}
    machine = {"mount": {"type": "fuse.x"}, "filesystem": layout}
    runs = [test_bound_own_probe.run(number, probe=probe, machine=machine) for number in range(3)]
    test_bound_own_probe.store(path, *runs)


def _store_labs(path: str) -> None:
    """Two and four emulated servers: copies by the client, and parity; some disks are slower than was asked for."""
    copies, parity = {"copies": 2, "copied_by": "client"}, {"copies": 1, "data_parts": 2, "parity_parts": 1}
    slow = {"disks": [{"read_bytes_per_s": 9e6, "write_bytes_per_s": speed} for speed in (8e6, 6e6)]}
    runs = [
        ({"servers": servers}, test_bound_lab.lab(layout, emulated, servers=servers, disk_write=disk), {}, rate)
        for servers, layout, emulated, disk, rates in (
            (2, copies, {}, 8e6, (7e6, 7.2e6, 6.9e6)),
            (4, parity, slow, None, (12e6, 12.5e6, 11.8e6)),
        )
        for rate in rates
    ]
    test_bound_lab.stored(path, runs, [Factor("servers", "", (2, 4))], ranks=2)


def _store_pairs(path: str) -> None:
    """Pairs of which B is 1.3 times as slow, until that is clear."""
    bench = test_campaign_against.Bench(Path(path).parent, ratio=1.3)
    bench.run()
    bench.path.rename(path)


def _create_empty(path: str) -> None:
    from iosonde.store import Store

    Store.create(path)


_FIXTURES = TESTS / "golden" / "fixtures"
_TABLES: dict[str, Callable[[str], object]] = {
    "cp.csv": _copy(DATA / "cp_raw.csv"),
    "pulp.csv": _copy(DATA / "pulp.csv"),
    "sieving.csv": _write_sieving,
    "writes.csv": _copy(DATA / "write_by_process_count.csv"),
    "suspicious.csv": _copy(DATA / "suspicious.csv"),
    "few.csv": _write_few,
    "ops.csv": _write_operation_times,
    "factorial.csv": lambda name: Path(name).write_text("\n".join(rank_sample.rows()) + "\n", encoding="utf-8"),
    "sums.json": _write_sums,
    "totals.json": _text('{"2": {"total": {"reader": 1345494, "re-reader": 1433371}}}'),
    "elbencho.txt": _copy(_FIXTURES / "elbencho" / "gen-eb3110-timelimit-incomplete.txt"),
    "mdtest.txt": _copy(_FIXTURES / "mdtest" / "gen-mdtest400-3iter.txt"),
    "scratch": lambda name: Path(name).mkdir(),
    "upgrade.yaml": _copy(TESTS.parent / "examples" / "upgrade.yaml"),
    "again.csv": _write_sieving_again,
    "variants.csv": _write_variants,
    "confounded.csv": _write_variants,
    "reads.csv": _write_reads,
    "netperf.txt": _copy(DATA / "bound-tools" / "netperf.txt"),
    "iozone.txt": _copy(DATA / "bound-tools" / "iozone.txt"),
    "cluster_atom.yaml": _copy(TESTS.parent / "examples" / "cluster_atom.yaml"),
    "what_matters.yaml": _copy(TESTS.parent / "examples" / "what_matters.yaml"),
    "two": lambda name: shutil.copytree(DATA / "two-tools", name),
    "parts.yaml": _text("m: 0.3us\np: {memory: 10GB/s, numa: 5GB/s}\nn: {bandwidth: 125MB/s, latency: 50us}\n"),
    "published.csv": _text("feature,coefficient,std_error\nintercept,60,2\nservers,6,0.5\n"),
    "questions.yaml": _text(QUESTIONS),
    "sizes.txt": fake_tree.write_list,
    "names.txt": lambda name: fake_tree.write_list(name, sized=False),
    "times.csv": _text("nodes,steps,time (s)\n1,10,2.0\n1,10,2.2\n1,10,2.1\n2,10,3.2\n2,10,3.0\n2,10,3.1\n"),
    "in_turn.csv": _write_in_turn,
    "holes.csv": _write_holes,
    "again_rounds.csv": _write_rounds,
    "wide.csv": _write_wide,
    "two_responses.csv": _write_two_responses,
    "ranks.csv": _write_ranks,
    "lonely_ranks.csv": _write_lonely_ranks,
    "load.csv": _write_load,
    "resembling.csv": _write_resembling,
    "net.csv": _write_net,
    "first.csv": _write_version,
    "second.csv": _write_version,
    "modelled.yaml": _text(MODELLED),
    "many.yaml": _text(MANY_QUESTIONS),
    "fio.json": _copy(_FIXTURES / "fio" / "gen-fio333-json-seqwrite-2jobs.json"),
    "elbencho.json": _copy(_FIXTURES / "elbencho" / "gen-eb3110-2services.json"),
    "mdtest3.txt": _copy(_FIXTURES / "mdtest" / "gen-mdtest330-3iter.txt"),
    "dd.txt": _text("4+0 records in\n4+0 records out\n4194304 bytes (4.2 MB, 4.0 MiB) copied, 0.0125 s, 336 MB/s\n"),
    "ior": lambda name: shutil.copytree(DATA / "ior_sweep", name),
}
_STORES: dict[str, Callable[[str], object]] = {
    "results": sample_store.main,
    "before": lambda path: compare_sample.speeds(path, 20, 1.0, (1, 2, 4), ("write", "copy", "stat")),
    "after": lambda path: compare_sample.speeds(path, 21, 0.8, (1, 2, 8), ("write", "copy", "delete"), version=2),
    "declared": declared_sample.store,
    "tools": tools_sample.main,
    "losses": bound_sample.store,
    "io500": lambda path: corpus_sample.write(path, corpus_sample.corpus(12, 5)),
    "options": advised_sample.options,
    "causes": _store_causes,
    "empty": _create_empty,
    "pairs": _store_pairs,
    "probed": lambda path: test_bound_own_probe.store(
        path, *map(test_bound_own_probe.run, range(3)), *map(test_bound_own_probe.probe, range(3))
    ),
    "attached": _store_attached,
    "moved": _store_moved,
    "pieces": _store_pieces,
    "iterated": declared_sample.imported,
    "iterations": lambda path: declared_sample.imported(path, runs_each=3),
    "bring_ups": test_strata.store,
    "labs": _store_labs,
    "faulty": lambda path: test_faults.stored(
        path, [test_faults.run(n, test_faults.LEVELS[n % 2], ("write: rank 0: killed",) * (n == 3)) for n in range(8)]
    ),
    "quiet": lambda path: history_sample.write_values(Path(path), [100, 101, 99, 100.5, 90, 91, 89.5, 90.2]),
    "steps": lambda path: history_sample.write_values(
        Path(path), [1e8 * (1.0 if day < 28 else 0.88) * (1 + 0.01 * (day * 7 % 11 - 5) / 5) for day in range(44)]
    ),
}


@cache
def _make_once(name: str) -> Path:
    """A store that later cases copy."""
    directory = tempfile.mkdtemp(prefix="iosonde-answers-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    path = Path(directory) / name
    _STORES[name](str(path))
    return path


def prepare(line: str) -> None:
    """Make the data that a command line names, where it is not there, in the working directory."""
    for word in shlex.split(line):
        name = re.split("[/:]", word)[0]
        if name in _TABLES and not Path(name).exists():
            _TABLES[name](name)
        elif name in _STORES and not Path(name).exists():
            shutil.copytree(_make_once(name), name)

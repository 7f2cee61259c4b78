"""What every command of ``iosonde --help`` is called with in each room; ``test_rooms.py`` holds the table complete.

Words stand after the command's name, in a directory with the files that ``inputs.py`` makes:

    plain     for an empty account and a plain user, over ordinary inputs
    unlike    for a store of unlike experiments; None where no store is taken
    hung      with ``HUNG``, a directory that gives no answer; None where no path is taken
"""

from __future__ import annotations

from dataclasses import dataclass

OK = (0, 1)
WRONG = (2,)
HUNG = "HUNG"
DATA = "runs.csv --response rate"


@dataclass(frozen=True)
class Case:
    """``codes`` and ``unlike_codes``: exit codes that are right. ``user_words``: what a plain user asks, if not
    ``plain``. ``makes``: what may be new in the directory afterwards. ``waits``: it runs until it is interrupted."""

    plain: str
    unlike: str | None = None
    hung: str | None = None
    codes: tuple[int, ...] = OK
    unlike_codes: tuple[int, ...] = OK
    user_words: str | None = None
    makes: tuple[str, ...] = ()
    waits: bool = False


def _lab(words: str, user_words: str | None = None) -> Case:
    """A command of a lab that does not exist: nothing is to be brought up, whoever asks."""
    return Case(words, codes=WRONG, user_words=user_words)


COMMANDS: dict[str, Case] = {
    "run": Case(
        "true --repetitions 2 --target target --store new --json",
        "true --repetitions 1 --target target --store unlike --json",
        "true --repetitions 1 --idle-timeout 4s --target HUNG --store new --json",
        makes=("new", "unlike/*"),
    ),
    "plan": Case("sweep.yaml --json", "sweep.yaml --store unlike --json", "HUNG/sweep.yaml --json"),
    "probe": Case(
        "--nodes 1 --repetitions 1 --target target --size 1MiB --store new --json",
        "--nodes 1 --repetitions 1 --store unlike --json",
        "--nodes 1 --repetitions 1 --target HUNG --size 1MiB --idle-timeout 4s --store new --json",
        makes=("new", "unlike/*"),
    ),
    "monitor": Case(
        "target --looks 1 --store new --json",
        "target --looks 1 --store unlike --json",
        "HUNG --looks 1 --idle-timeout 4s --store new --json",
        unlike_codes=WRONG,
        makes=("new", "target/*", "unlike/*"),
    ),
    "survey tree": Case(
        "./tree --store new --page page.html --json",
        "./tree --store unlike --json",
        "HUNG --for 2s --json",
        makes=("new", "page.html", "unlike/*"),
    ),
    "survey simulate": Case(
        "tree --repetitions 2 --draws 5 --plot p.svg --json",
        hung="HUNG --repetitions 2 --draws 5 --json",
        makes=("p.svg",),
    ),
    "survey plan": Case("--population 1000 --capacity 1GB --json"),
    "doctor": Case("--json"),
    "lab up": _lab("no-such-file-system --json", "local --name room --servers 1 --clients 1 --json"),
    "lab run": _lab("--lab absent absent.yaml", "sweep.yaml"),
    "lab exec": _lab("--lab absent client1 true", "client1 true"),
    "lab status": _lab("--lab absent --json"),
    "lab down": _lab("absent"),
    "lab list": Case("--json"),
    "lab get": _lab("--lab absent --json"),
    "lab set": _lab("--lab absent a=b --json"),
    "lab fault": _lab("--lab absent kill-server server1 --json"),
    "lab heal": _lab("--lab absent server1 --json"),
    "lab mount": _lab("--lab absent client1"),
    "lab unmount": _lab("--lab absent client1"),
    "lab remount": _lab("--lab absent client1"),
    "lab placement": _lab("--lab absent x --json"),
    "lab profile": _lab("--lab absent on --json"),
    "parse": Case("ior.txt --json", hung="HUNG/ior.txt --json"),
    "import": Case(
        "ior.txt --store new --json",
        "ior.txt --store unlike --json",
        "HUNG/ior.txt --store new --json",
        makes=("new", "unlike/*"),
    ),
    "check": Case("store --json", "unlike --json", "HUNG/store --json"),
    "verify": Case("store --json", "unlike --json", "HUNG/store --json"),
    "explain": Case("S107"),
    "explain-difference": Case(
        "store store --metric read --json",
        "unlike unlike --json",
        "HUNG/store HUNG/store --json",
        codes=(0, 1, 2),
        unlike_codes=(0, 1, 2),
    ),
    "summary": Case("store --json", "unlike --json", "HUNG/store --json"),
    "compare": Case(
        "store --group nodes 1 2 --json",
        "unlike --group bs 4KiB 64KiB --json",
        "HUNG/runs.csv --response rate --group nodes 1 2 --json",
    ),
    "regress": Case(
        f"{DATA} --on nodes --plot p.svg --json",
        "unlike --response write_buffered --on bs --json",
        "HUNG/runs.csv --response rate --on nodes --json",
        makes=("p.svg",),
    ),
    "anova": Case(
        f"{DATA} --on nodes --json",
        "unlike --response write_buffered --on bs --json",
        "HUNG/runs.csv --response rate --on nodes --json",
    ),
    "rank": Case(
        f"{DATA} --on nodes,size --plot p.svg --json",
        "unlike --on bs --json",
        "HUNG/runs.csv --response rate --on nodes --json",
        makes=("p.svg",),
    ),
    "corpus": Case(
        "corpus --cluster institution,system --page page.html --plot p.svg --json",
        "unlike --cluster source --json",
        "HUNG/store --cluster source --json",
        makes=("page.html", "p.svg"),
    ),
    "scale": Case(
        f"{DATA} --on nodes --by size --plot p.svg --json",
        "unlike --on nodes --json",
        "HUNG/runs.csv --response rate --on nodes --json",
        makes=("p.svg",),
        unlike_codes=(0, 1, 2),
    ),
    "bound": Case(
        f"{DATA} --unit MB/s --clients 1 --servers 1 --net 117MB/s --plot p.svg --json",
        "unlike --clients 1 --servers 1 --net 117MB/s --json",
        "HUNG/runs.csv --response rate --unit MB/s --clients 1 --servers 1 --net 117MB/s --json",
        makes=("p.svg",),
    ),
    "time-model": Case(
        "sizes.csv --response time_us --on size --json",
        "unlike --on bs --json",
        "HUNG/sizes.csv --response time_us --on size --json",
        unlike_codes=(0, 1, 2),
    ),
    "watch": Case("store --json", "unlike --json", "HUNG/store --json"),
    "diagnose": Case(
        "store --plot p.svg --json",
        "unlike --json",
        "HUNG/store --json",
        makes=("p.svg",),
        codes=OK,
        unlike_codes=(0, 1, 2),
    ),
    "fit": Case(
        f"{DATA} --on nodes,size --family linear -o new.json --plot p.svg --json",
        "unlike --response write_buffered --on bs --json",
        "HUNG/runs.csv --response rate --on nodes --json",
        makes=("new.json", "p.svg"),
    ),
    "predict": Case("model.json nodes=2 size=2 --json", hung="HUNG/model.json nodes=2 size=2 --json"),
    "validate": Case(
        f"{DATA} --on nodes,size --family linear --plot p.svg --json",
        "unlike --response write_buffered --on bs --json",
        "HUNG/runs.csv --response rate --on nodes --json",
        makes=("p.svg",),
    ),
    "advise": Case(
        f"{DATA} --choose size --given nodes --plot p.svg --json",
        "unlike --choose bs --json",
        "HUNG/runs.csv --response rate --choose size --given nodes --json",
        makes=("p.svg",),
    ),
    "upgrade": Case("upgrade.yaml --plot p.svg --json", hung="HUNG/upgrade.yaml --json", makes=("p.svg",)),
    "show": Case("store --json", "unlike --json", "HUNG/store --json"),
    "store check": Case("store --json", "unlike --json", "HUNG/store --json"),
    "store export": Case("store -o new.csv", "unlike -o new.csv", "HUNG/store -o new.csv", makes=("new.csv",)),
    "store factors": Case("store --json", "unlike --json", "HUNG/store --json"),
    "store index": Case("store --json", "unlike --json", "HUNG/store --json"),
    "store merge": Case("new store --json", "new unlike --json", "new HUNG/store --json", makes=("new",)),
    "store note": Case("store RUN text", "unlike RUN text", "HUNG/store x text", makes=("store/*", "unlike/*")),
    "store prune": Case("store --keep-last 1 --json", "unlike --keep-last 1 --json", "HUNG/store --keep-last 1 --json"),
    "store redact": Case("store new --json", "unlike new --json", "HUNG/store new --json", makes=("new",)),
    "store tag": Case("store RUN good", "unlike RUN good", "HUNG/store x good", makes=("store/*", "unlike/*")),
    "report": Case("store -o page.html", "unlike -o page.html", "HUNG/store -o page.html", makes=("page.html",)),
    "serve": Case("store --port 0 --json", "unlike --port 0 --json", "HUNG/store --port 0 --json", waits=True),
    "plot": Case("store -o p.svg", "unlike -o p.svg", "HUNG/store -o p.svg", makes=("p.svg",)),
}

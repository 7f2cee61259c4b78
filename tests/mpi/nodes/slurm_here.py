"""A small Slurm on the nodes of a `Cluster`: slurmctld on the first, a slurmd on each of the others, and munge with a
key of its own. Everything lies in the cluster's directory and ends with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress

from cluster import Cluster

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sinfo", "srun", "salloc", "sbatch", "scancel")
UP_S = 20

_SLURM_CONF = """
ClusterName=here
SlurmctldHost={login}({login_address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={root}/munge.socket
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,defer_batch=no
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=pmi2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MessageTimeout=60
TCPTimeout=20
{nodes}
PartitionName=debug Nodes={names} Default=YES OverSubscribe=NO MaxTime=10
PartitionName=closed Nodes={names} State=DOWN
"""


def why_not() -> str:
    """What keeps this machine from running a Slurm; empty if nothing does."""
    missing = [name for name in _PROGRAMS if not _find(name)]
    return f"missing: {', '.join(missing)}; install it with: apt install slurm-wlm munge" if missing else ""


class Slurm:
    """Starts on ``cluster`` and is up when all nodes are idle. ``env`` is what its clients need."""

    def __init__(self, cluster: Cluster, cores: int = 2) -> None:
        self.cluster = cluster
        self.login, *self.nodes = cluster.names
        self.root = cluster.root / "slurm"
        self.root.mkdir()
        (self.root / "state").mkdir()
        (self.root / "munge.key").write_bytes(os.urandom(1024))
        (self.root / "munge.key").chmod(0o400)
        lines = [f"NodeName={name} NodeAddr={cluster.address(name)} CPUs={cores} RealMemory=500" for name in self.nodes]
        (self.root / "slurm.conf").write_text(
            _SLURM_CONF.format(
                root=self.root,
                login=self.login,
                login_address=cluster.address(self.login),
                nodes="\n".join(lines),
                names=",".join(self.nodes),
            )
        )
        (self.root / "mpi.conf").write_text("PMIxCliTmpDirBase=/run/spmix\n")
        self.env = {"SLURM_CONF": str(self.root / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}

    def start(self) -> None:
        """Start the daemons, and wait until all nodes are idle."""
        root = self.root
        self.root.chmod(0o755)
        self._daemon(
            self.login,
            "munged",
            "--force",
            f"--key-file={root}/munge.key",
            f"--socket={root}/munge.socket",
            f"--pid-file={root}/munged.pid",
            f"--log-file={root}/munged.log",
            f"--seed-file={root}/munged.seed",
        )
        self._daemon(self.login, "slurmctld", "-c", "-f", f"{root}/slurm.conf")
        for name in self.nodes:
            (root / f"spool-{name}").mkdir()
            self._daemon(name, "slurmd", "-N", name, "-f", f"{root}/slurm.conf")
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        """Until no node is in a job. Raises RuntimeError if that does not come."""
        deadline = time.monotonic() + UP_S
        while (seen := self.states()) != ["idle"] * len(self.nodes):
            if time.monotonic() > deadline:
                raise RuntimeError(f"Slurm's nodes are {seen}: {(self.root / 'slurmctld.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def states(self) -> list[str]:
        """The state of every node."""
        return self.run("sinfo", "--noheader", "--Node", "--partition=debug", "--format=%T").stdout.split()

    def jobs(self) -> list[str]:
        """The jobs that run, wait or end."""
        return self.run("squeue", "--noheader", "--format=%i %T").stdout.splitlines()

    def run(self, *command: str, env: dict[str, str] | None = None, limit_s: float = 60):
        """Run a command on the login node."""
        return self.cluster.run(self.login, *command, env={**self.env, **(env or {})}, limit_s=limit_s)

    def stop(self) -> None:
        """End the daemons, by their pid files."""
        for path in self.root.glob("*.pid"):
            with suppress(OSError, ValueError):
                os.kill(int(path.read_text()), signal.SIGKILL)

    def _daemon(self, node: str, *command: str) -> None:
        done = self.cluster.run(node, str(_find(command[0])), *command[1:], env=self.env)
        if done.returncode:
            raise RuntimeError(f"{command[0]} did not start: {done.stderr}")


def _find(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")

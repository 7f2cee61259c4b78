"""An sshd on every host, reachable from all others without a password, for MPI launchers and steps on servers."""

import sys
from pathlib import Path

from .hosts import TEMPORARY, LabHost
from .lab import Lab
from .tools import has_command, run

SSHD = "/usr/sbin/sshd"


def start(lab: Lab) -> None:
    """Start an sshd on every host; without sshd on the machine, MPI stays on one host."""
    if not Path(SSHD).exists() or not has_command("ssh-keygen"):
        return
    keys = lab.directory / "ssh"
    keys.mkdir(mode=0o700, exist_ok=True)
    for name in ("key", "hostkey"):
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "iosonde-lab", "-f", str(keys / name)])
    (keys / "authorized").write_text((keys / "key.pub").read_text())
    lab.each(lab.hosts, lambda host: start_on(lab, host))


def start_on(lab: Lab, host: LabHost) -> None:
    """Start the sshd of one host, with the keys of its lab. Raises LabError."""
    keys = lab.directory / "ssh"
    path = f"{Path(sys.executable).parent}:{host.environment()['PATH']}"
    settings = {
        "AuthorizedKeysFile": str(keys / "authorized"),
        "StrictModes": "no",
        "PermitRootLogin": "yes",
        "UsePAM": "no",
        "PidFile": "/run/sshd.pid",
        "SetEnv": f"PATH={path} TMPDIR={TEMPORARY} SHLVL=1",
        "MaxStartups": "200",
        "Subsystem": "sftp internal-sftp",
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    host.run(SSHD, "-f", "/dev/null", "-h", str(keys / "hostkey"), *options)

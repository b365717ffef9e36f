"""A cluster on this machine: a Slurm of nodes with names of their own, or hosts with addresses of their own and ssh.

A node is a set of Linux namespaces that ends as a whole, so a test can kill it, and it leaves nothing behind. If pytest
itself is killed, the system ends the nodes.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psutil
import pytest

from tefflab import project_root
from tefflab.systems.systems import BUILD_FOLDER

LAB = Path(__file__).with_name("cluster_lab.py")
_PATIENCE = 180.0  # seconds in which daemons answer
_LOOK = 0.05  # seconds between two looks at what is waited for
LONGEST = 300.0  # seconds of a command on the cluster
_NAMESPACES = ("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
_BUSY = 6  # programs that take a core from a node
_CONF = """\
ClusterName=teff
SlurmctldHost=login(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
StateSaveLocation={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/%n
TmpFS={folder}/%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=2
MessageTimeout=3
KillWait=5
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PartitionName=all Nodes=ALL Default=YES State=UP
"""
_NODE = "NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs=1\n"


def clone(folder: Path) -> Path:
    """A checkout with the programs that are built here, whose `teff` sets nothing up. Skips the test without them."""
    root, real = folder / "clone", project_root()
    if not (real / BUILD_FOLDER / "bin" / "mpi_nonblocking").exists():
        pytest.skip("mpi is not built here")
    (root / BUILD_FOLDER).parent.mkdir(parents=True)
    for name in (BUILD_FOLDER, "bench", "experiments", "lab", ".git"):
        (root / name).symlink_to(real / name)
    teff = root / "teff"
    teff.write_text(f'#!/bin/sh\nexec {sys.executable} {LAB} {root} "$@"\n')
    teff.chmod(0o755)
    return root


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses now."""
    with ExitStack() as held:
        sockets = [held.enter_context(closing(socket.socket())) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_until(is_so: Callable[[], object], what: str, seconds: float = _PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(_LOOK)


def skip_without(*programs: str, probe: str = "mount -t tmpfs none /dev/shm") -> None:
    """Skips the test if a program is missing, or if a command fails in the namespaces of a node."""
    if os.geteuid() != 0:
        pytest.skip("a cluster's nodes are namespaces, which only root can make")
    for each in programs:
        if shutil.which(each) is None:
            pytest.skip(f"{each} is not installed here")
    tried = subprocess.run([*_NAMESPACES, "--net", "sh", "-c", probe], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no nodes can be made here: {tried.stderr.strip()}")


@dataclass
class Cluster(AbstractContextManager["Cluster"]):
    """Its daemons, and the environment in which commands reach it."""

    folder: Path
    names: Sequence[str] = ("n1", "n2")
    environment: dict[str, str] = field(default_factory=dict)
    _daemons: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """The nodes take commands. Daemons that did start end again if others do not."""
        with ExitStack() as on_failure:
            on_failure.push(self)
            self._set_up()
            on_failure.pop_all()
        return self

    @abstractmethod
    def _set_up(self) -> None:
        """Starts the daemons, and waits until they answer."""

    def __exit__(self, *_: object) -> None:
        for name in list(self._daemons):
            self.kill(name)

    def start(self, name: str, command: Sequence[str]) -> None:
        """A daemon that ends with pytest, if not before."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self._daemons[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def core(self, name: str) -> int:
        """Of a node. Nodes share cores if there are more nodes than cores."""
        cores = sorted(os.sched_getaffinity(0))
        return cores[self.names.index(name) % len(cores)]

    def start_node(self, name: str, daemon: str, *words: str) -> None:
        """A machine of this name. Without its first process nothing of it is left."""
        own = f"hostname {name}; mount -t tmpfs none /dev/shm; mount --bind {self.folder}/hosts /etc/hosts; {daemon}"
        pinned = ["taskset", "-c", str(self.core(name))] if name in self.names else []  # the login node has all cores
        self.start(name, [*pinned, *words, *_NAMESPACES, "sh", "-c", own])

    def kill(self, name: str) -> None:
        """Ends a daemon, or a node with all that runs on it, at once."""
        daemon = self._daemons.pop(name)
        itself = psutil.Process(daemon.pid)
        for first in itself.children() or [itself]:  # its parent waits for it, and ends
            first.kill()
        daemon.wait()

    @contextmanager
    def busy(self, name: str) -> Iterator[None]:
        """Other programs work on the core of a node."""
        spinning = [f"busy {number}" for number in range(_BUSY)]
        for each in spinning:
            self.start(each, ["taskset", "-c", str(self.core(name)), sys.executable, "-c", "while True: pass"])
        yield
        for each in spinning:
            self.kill(each)

    def first_process(self, name: str) -> int:
        """Of a node that has been started, by its number on this machine."""
        parent = psutil.Process(self._daemons[name].pid)
        wait_until(parent.children, f"{name} has a process")
        return parent.children()[0].pid

    def popen(self, *command: str, **more: str) -> "subprocess.Popen[str]":
        """A command on the login node; `more` is added to its environment."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=os.environ | self.environment | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *command: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """The same, to its end."""
        with self.popen(*command, **more) as process:
            try:
                out, err = process.communicate(timeout=LONGEST)
            finally:
                process.kill()
        return subprocess.CompletedProcess(command, process.returncode, out, err)


@dataclass
class Slurm(Cluster):
    """Nodes of a core each, and a login node."""

    def state(self, *words: str) -> str:
        """squeue's or sinfo's answer without a head."""
        return self.run(words[0], "--noheader", *words[1:]).stdout.strip()

    def _set_up(self) -> None:
        port, *ports = free_ports(1 + len(self.names))
        conf = _CONF.format(port=port, folder=self.folder)
        conf += "".join(_NODE.format(name=name, port=of) for name, of in zip(self.names, ports, strict=True))
        (self.folder / "slurm.conf").write_text(conf)
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost login {' '.join(self.names)}\n")
        key = self.folder / "key"
        key.touch(0o600)
        key.write_bytes(os.urandom(64))
        for name in self.names:
            (self.folder / name).mkdir()
        self.environment |= {"SLURM_CONF": str(self.folder / "slurm.conf")}
        files = {"key-file": "key", "socket": "munge", "pid-file": "munge.pid", "seed-file": "seed", "log-file": "said"}
        paths = [f"--{option}={self.folder / name}" for option, name in files.items()]
        self.start("munged", ["munged", "--force", "--foreground", *paths])
        wait_until((self.folder / "munge").exists, "munged answers")
        self.start_node("login", f"exec slurmctld -D -f {self.folder}/slurm.conf")
        for name in self.names:
            self.start_slurmd(name)
        self.wait_for_nodes()

    def wait_for_nodes(self) -> None:
        wait_until(lambda: self.state("sinfo", "-o", "%D %t") == f"{len(self.names)} idle", "all nodes are idle")

    def start_slurmd(self, name: str) -> None:
        self.start_node(name, f"exec slurmd -D -N {name} -f {self.folder}/slurm.conf")


@dataclass
class Hosts(Cluster):
    """Hosts h1 and h2, with a cable between them. Commands run on h1, which reaches h2 by ssh."""

    names: Sequence[str] = ("h1", "h2")

    def popen(self, *command: str, **more: str) -> "subprocess.Popen[str]":
        """A command on h1."""
        inside = ["nsenter", "--all", "--target", str(self.first_process("h1"))]
        return super().popen("taskset", "-c", str(self.core("h1")), *inside, *command, **more)

    def _set_up(self) -> None:
        lines = [f"10.77.0.{number} {name}" for number, name in enumerate(self.names, 1)]
        (self.folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        key, server, client = (self.folder / name for name in ("key", "sshd.conf", "ssh.conf"))
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        server.write_text(
            f"HostKey {key}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
            f"PidFile none\n"
        )
        client.write_text(
            f"IdentityFile {key}\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
        )
        self.environment |= {"OMPI_MCA_plm_rsh_args": f"-F {client}"}
        daemon = (
            f"mount -t tmpfs none /run; mkdir /run/sshd; ip link set lo up; exec {shutil.which('sshd')} -D -f {server}"
        )
        for name in self.names:
            self.start_node(name, daemon, "unshare", "--net")
        first, second = map(self.first_process, self.names)
        self._ip(first, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", str(second))
        for number, host in enumerate((first, second), 1):
            self._ip(host, "address", "add", f"10.77.0.{number}/24", "dev", "cable")
            self._ip(host, "link", "set", "cable", "up")
        answers = ["ssh", "-F", str(client), "h2", "true"]
        wait_until(lambda: self.run(*answers).returncode == 0, "h2 answers")

    def _ip(self, host: int, *words: str) -> None:
        subprocess.run(["nsenter", "--net", "--target", str(host), "ip", *words], check=True)

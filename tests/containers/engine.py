"""Podman over a storage of the tests' own, below .cache, so that nothing of this machine's
containers is touched.
"""

import fcntl
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.sources import REPOSITORY
from tests.support.servers import CACHE, missing

HOME = CACHE / "containers"
RUNNING = Path("/run/lightstream-test-containers")
"""What podman keeps of running containers: one place for the machine, so one run of these tests at
a time.
"""
MINUTES = 60.0
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
ENOUGH = 10_000
"""Open files and processes of a container."""
BUILDER = "/root"
"""The home of whoever builds, in the image."""
HYBRID = Path("/sys/fs/cgroup/unified")
"""With this mounted podman's runtime starts nothing; in a mount namespace of our own, without it,
it does.
"""


@dataclass(frozen=True)
class Engine:
    """Podman. `program` is a file that runs it, for other programs; every command goes through
    it.
    """

    program: Path

    def run(
        self, *arguments: str, check: bool = True, minutes: float = 2.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a podman command. Fails with what it wrote when its code is not 0, unless told not to
        `check`.
        """
        return executed([str(self.program), *arguments], check=check, minutes=minutes)

    def has(self, image: str) -> bool:
        """Whether the image is in the storage."""
        return self.run("image", "exists", image, check=False).returncode == 0

    def make_image(self, goal: str = "image") -> None:
        """Run `make image`, or another goal, with this podman, which trusts the certificates that
        this machine trusts.
        """
        certificates = (
            ["--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"] if CERTIFICATES.exists() else []
        )
        npm = HOME / "npmrc"
        npm.write_text(f"cafile={CERTIFICATES}\n")
        options = [
            "--pull=never",
            "--network",
            "host",
            "--isolation",
            "oci",
            "--layers",
            *certificates,
            "--volume",
            f"{npm}:{BUILDER}/.npmrc:ro",
        ]
        path = f"{self.program.parent}:{os.environ['PATH']}"
        command = ["make", goal, f"BUILD_OPTIONS={' '.join(options)}"]
        executed(command, minutes=40.0, env={**os.environ, "PATH": path}, cwd=REPOSITORY)


def executed(
    command: list[str],
    *,
    check: bool = True,
    minutes: float = 2.0,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and return what it wrote."""
    process = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=minutes * MINUTES,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
    )
    if check and process.returncode:
        raise AssertionError(
            f"{' '.join(command[:6])} …: code "
            f"{process.returncode}\n{process.stdout[-3000:]}\n{process.stderr[-6000:]}"
        )
    return process


@contextmanager
def engine() -> Generator[Engine]:
    """The engine for one test run. Skips where podman is not installed, or this user may not use
    it.
    """
    if shutil.which("podman") is None:
        missing(
            "containers need podman (apt install podman crun netavark aardvark-dns iptables "
            "catatonit)"
        )
    if os.geteuid() != 0:
        missing("these tests run podman as root, to have networks between containers")
    HOME.mkdir(parents=True, exist_ok=True)
    with _alone(), _namespace() as prefix:
        options = [
            "--root",
            str(HOME / "root"),
            "--runroot",
            str(RUNNING),
            "--storage-driver",
            "overlay",
            "--cgroup-manager",
            "cgroupfs",
            "--events-backend",
            "file",
            "--network-config-dir",
            str(HOME / "networks"),
        ]
        program = HOME / "podman"
        # Where this user may raise no limit, podman's own defaults would stop everything.
        limits = [f"{name}={ENOUGH}:{ENOUGH}" for name in ("nofile", "nproc")]
        settings = HOME / "containers.conf"
        settings.write_text(f"[containers]\ndefault_ulimits = {limits}\n".replace("'", '"'))
        words = " ".join(f'"{word}"' for word in [*prefix, str(shutil.which("podman")), *options])
        program.write_text(f'#!/bin/sh\nexport CONTAINERS_CONF={settings}\nexec {words} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        result = Engine(program)
        info = result.run("info", check=False)
        if info.returncode:
            missing(f"podman does not work here: {info.stderr[-500:]}")
        yield result


@contextmanager
def _alone() -> Generator[None]:
    """Refuse a second run beside another: each would remove the other's containers."""
    with RUNNING.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AssertionError(
                "another run of tests/containers is under way on this machine"
            ) from None
        yield


@contextmanager
def _namespace() -> Generator[list[str]]:
    """What goes before a command: nothing, or the way into a mount namespace without the hybrid
    cgroup.
    """
    if not HYBRID.is_mount():
        yield []
        return
    keep = "umount -l /sys/fs/cgroup/unified && echo ready && exec sleep infinity"
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", keep], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout
            if holder.stdout.readline().strip() != "ready":
                missing("no mount namespace can be made here")
            yield ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "--wdns=$PWD", "--"]
        finally:
            holder.send_signal(signal.SIGTERM)

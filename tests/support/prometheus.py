"""Prometheus and promtool: this machine's own, else those of Debian's package, unpacked beside the
other servers.
"""

import fcntl
import platform
import shutil
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tests.support.servers import CACHE, missing

PACKAGES = {
    "2.42.0+ds-5+deb12u1": "81d59a24fce84f7fbe97a45a4f2914b6a5881b5cd1db2a6a0e129e515e1a5f55",
}
"""Debian's packages for x86-64 that were tried, with the hash of each."""


@dataclass(frozen=True)
class Prometheus:
    """The two programs."""

    server: str
    promtool: str


def prometheus() -> Prometheus:
    """The programs, fetched once for all test workers. Skips where they are not to be had; in CI
    that is a failure.
    """
    own = shutil.which("prometheus"), shutil.which("promtool")
    if own[0] and own[1]:
        return Prometheus(own[0], own[1])
    if (platform.system(), platform.machine()) != ("Linux", "x86_64") or not shutil.which(
        "apt-get"
    ):
        missing("there is no package of it for this machine: install prometheus")
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "prometheus.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for version, digest in PACKAGES.items():
            folder = CACHE / f"prometheus-{version}"
            if folder.exists() or _fetched(version, digest, folder):
                return Prometheus(
                    str(folder / "usr/bin/prometheus"), str(folder / "usr/bin/promtool")
                )
    return missing("apt-get gives none of the packages that were tried: install prometheus")


def _fetched(version: str, digest: str, folder: Path) -> bool:
    """Unpack the package beside its folder and rename, so that half of it never counts."""
    half = folder.with_name(f"{folder.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir()
    download = ["apt-get", "download", f"prometheus={version}"]
    # A machine that has never asked knows no packages.
    if not (_ran(download, half) or (_ran(["apt-get", "update"], half) and _ran(download, half))):
        return False
    (package,) = half.glob("*.deb")
    if sha256(package.read_bytes()).hexdigest() != digest:
        raise AssertionError(f"{package.name} is not the package that was tried")
    if not _ran(["dpkg-deb", "-x", str(package), str(half)], half):
        return False
    package.unlink()
    half.rename(folder)
    return True


def _ran(command: list[str], folder: Path) -> bool:
    return (
        subprocess.run(
            command, cwd=folder, capture_output=True, timeout=240, check=False
        ).returncode
        == 0
    )

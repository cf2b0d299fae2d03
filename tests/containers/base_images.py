"""The images that ours and docker-compose.yml start from: pulled where a registry answers, else
made from Debian.

A stand-in carries the label `lightstream.stand-in`, so that a test knows which servers it has.
"""

import shutil
from pathlib import Path

from tests.containers.engine import HOME, Engine, executed
from tests.support.servers import missing

LABEL = "lightstream.stand-in"
PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"


def python_image(engine: Engine, name: str) -> None:
    """Have the base image under that name: pulled, or Debian's Python where no registry is in
    reach.
    """
    full_name = f"docker.io/library/{name}"
    if engine.has(full_name) or _pulled(engine, full_name):
        return
    if shutil.which("debootstrap") is None:
        missing("no registry answers, and a base image of our own needs debootstrap")
    folder = HOME / "debian"
    if not (folder / "usr/bin/python").exists():
        _without_proc(folder)
        shutil.rmtree(folder, ignore_errors=True)
        executed(
            ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(folder)],
            minutes=20.0,
        )
        # As in the image it stands in for: Python is for whoever installs into it, and is called
        # python.
        for marker in folder.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            marker.unlink()
        for package in (folder / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()
        (folder / "usr/bin/python").symlink_to("python3")
    _without_proc(folder)
    archive = HOME / "debian.tar"
    command = [
        "tar",
        "--directory",
        str(folder),
        "--one-file-system",
        "--create",
        "--file",
        str(archive),
        ".",
    ]
    executed(command, minutes=10.0)
    engine.run("import", "--change", f"LABEL {LABEL}=python", str(archive), full_name, minutes=10.0)
    archive.unlink()


def stands_in(engine: Engine, image: str) -> bool:
    """Whether an image is one of ours in the place of the one that is named."""
    return bool(
        engine.run(
            "image", "inspect", "--format", f'{{{{index .Labels "{LABEL}"}}}}', image
        ).stdout.strip()
    )


def _without_proc(folder: Path) -> None:
    """Unmount what debootstrap mounts and sometimes leaves: nobody shall pack it, let alone remove
    it.
    """
    if (folder / "proc").is_mount():
        executed(["umount", str(folder / "proc")])


def _pulled(engine: Engine, image: str) -> bool:
    return engine.run("pull", "--quiet", image, check=False, minutes=10.0).returncode == 0

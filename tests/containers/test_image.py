"""The image as it is built: small, closed, and each program of ours runs from it."""

import json
from pathlib import Path
from typing import Any

import pytest

from embedded.processes import free_port
from embedded.programs import service_module
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from tests.architecture.sources import SERVICES
from tests.containers.engine import Engine
from tests.support.deployed_bus import deployed_bus
from tests.support.nats_server import until

CLOSED = (
    "--read-only",
    "--tmpfs",
    "/tmp:size=256m,mode=1777",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
)
"""How docker-compose.yml runs it."""

MEGABYTE = 1_000_000

LOOK = """
import json, os, pathlib, shutil, importlib.util
tools = [name for name in ("sh", "bash", "pip", "apt-get", "dpkg", "perl", "curl", "wget", "tar", "su") if shutil.which(name)]
page = pathlib.Path(importlib.util.find_spec("lightstream_rag.services.gateway").origin).parent / "web_page_files"
def writable(place):
    try: pathlib.Path(place, "probe").write_text("x")
    except OSError: return False
    return True
print(json.dumps({
    "user": [os.getuid(), os.getgid()], "tools": tools, "page": sorted(entry.name for entry in page.iterdir()),
    "writable": [place for place in ("/", "/opt/lightstream", "/etc", "/tmp") if writable(place)],
    "packages": [name for name in ("pip", "pytest", "milvus_lite", "arcadedb_embedded", "playwright") if importlib.util.find_spec(name)],
    "tests": [str(folder) for folder in pathlib.Path(page).parents[3].rglob("tests")],
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")],
    "setuid": [str(file) for folder in ("/usr", "/opt") for file in pathlib.Path(folder).rglob("*")
               if not file.is_symlink() and file.is_file() and file.stat().st_mode & 0o6000],
}))
"""  # noqa: E501


def inspected(engine: Engine, image: str) -> dict[str, Any]:
    return json.loads(engine.run("image", "inspect", image).stdout)[0]


def test_it_is_small_and_says_what_it_is(engine: Engine, image: str) -> None:
    result = inspected(engine, image)
    assert result["Size"] < 700 * MEGABYTE
    assert (result["User"], len(result["RootFS"]["Layers"])) == ("10001:10001", 1)
    assert result["Healthcheck"]["Test"] == ["CMD", "python", "/opt/lightstream/healthcheck.py"]
    labels = result["Labels"]
    assert labels["org.opencontainers.image.title"] == "Lightstream"
    assert {"org.opencontainers.image.version", "org.opencontainers.image.licenses"} <= set(labels)


def test_whoever_breaks_in_finds_no_tools_and_can_write_nothing(engine: Engine, image: str) -> None:
    report = json.loads(
        engine.run("run", "--rm", "--network", "none", *CLOSED, image, "python", "-c", LOOK).stdout
    )
    assert "index.html" in report.pop("page")
    assert report == {
        "user": [10001, 10001],
        "tools": [],
        "writable": ["/tmp"],
        "packages": [],
        "tests": [],
        "capabilities": ["0000000000000000"],
        "setuid": [],
    }
    process = engine.run(
        "run", "--rm", "--network", "none", *CLOSED, image, "sh", "-c", "true", check=False
    )
    assert process.returncode == 127


@pytest.mark.parametrize(
    "command", [(), ("operator",), ("mcp",), ("topology", "apply"), ("stores", "apply"), ("ask",)]
)
def test_every_command_is_in_it(engine: Engine, image: str, command: tuple[str, ...]) -> None:
    words = ("lightstream", *command, "--help") if command else ()
    assert "Usage" in engine.run("run", "--rm", "--network", "none", *CLOSED, image, *words).stdout


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_is_in_it(engine: Engine, image: str, service: str) -> None:
    script = f"import lightstream_rag.{service_module(service)}, sys; sys.stdout.write('loaded')"
    assert (
        engine.run(
            "run", "--rm", "--network", "none", *CLOSED, image, "python", "-c", script
        ).stdout
        == "loaded"
    )


async def test_a_service_is_healthy_in_it(engine: Engine, image: str, tmp_path: Path) -> None:
    async with deployed_bus(tmp_path / "bus") as bus:
        async with connected(bus.operator, name="test") as client:
            assert await topology.apply(client.jetstream())
        secret = tmp_path / "nats_url"
        secret.write_text(bus.url("chunker"))
        name = f"chunker-{free_port()}"
        port = str(free_port())
        engine.run(
            "run",
            "--detach",
            "--name",
            name,
            "--network",
            "host",
            *CLOSED,
            "--env",
            f"PORT={port}",
            "--env",
            "NATS_API_PREFIX=KB.API",
            "--env",
            "NATS_URL_FILE=/run/secrets/nats_url",
            "--volume",
            f"{secret}:/run/secrets/nats_url:ro",
            image,
            "python",
            "-m",
            "lightstream_rag.services.chunker.main",
        )
        try:

            async def healthy() -> bool:
                return engine.run("healthcheck", "run", name, check=False).returncode == 0

            await until(healthy, "healthy", seconds=300)
            assert bus.passwords["chunker"] not in engine.run("inspect", name).stdout
        finally:
            engine.run("rm", "--force", "--time", "30", name)

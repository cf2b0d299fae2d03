"""docker-compose.yml, or more files, brought up whole by podman-compose, over the servers' images
or stand-ins.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from embedded.processes import free_port
from tests.architecture.sources import REPOSITORY
from tests.containers.engine import Engine, executed
from tests.containers.stand_ins import server_images, stand_ins
from tests.support.nats_server import until
from tests.support.servers import missing

PROJECT = "lightstream-test"
BUSES = ("nats", "nats-2", "nats-3")
STORES = ("mongo", "neo4j", "milvus")
JOBS = ("settings", "topology", "stores")
SERVICES = ("chunker", "extractor", "merger", "indexer", "query")
READER = "kreads-one-workspace-and-nothing-else-0123456789"
PUBLISHER = "acme"
"""A publisher of the workspace harbour and of no other."""

SETTINGS = {
    "EMBEDDING_MODEL": "lexical",
    "COSINE_THRESHOLD": "0.05",
    "WEBHOOK_SENDER": "apart",
}


@dataclass(frozen=True)
class Deployment:
    """A copy of the deployment's files in a folder of its own, with its own secrets."""

    engine: Engine
    folder: Path
    port: int
    files: tuple[str, ...]
    stand_ins: frozenset[str]
    """Which servers are not those that docker-compose.yml names."""

    @property
    def described(self) -> dict[str, Any]:
        """What the files say of each container."""
        services: dict[str, Any] = {}
        for file in self.files:
            for name, service in yaml.safe_load((self.folder / file).read_text("utf-8"))[
                "services"
            ].items():
                services[name] = {**services.get(name, {}), **service}
        return services

    @property
    def encrypted(self) -> bool:
        """Whether the bus speaks TLS."""
        return "docker-compose.tls.yml" in self.files

    @property
    def buses(self) -> tuple[str, ...]:
        """The servers of the bus that the files have."""
        return tuple(name for name in BUSES if name in self.described)

    def compose(
        self, *arguments: str, check: bool = True, minutes: float = 10.0
    ) -> subprocess.CompletedProcess[str]:
        """Run `docker compose` with these arguments, as podman-compose does it."""
        files = [
            word
            for file in (*self.files, "docker-compose.override.yml")
            for word in ("--file", file)
        ]
        command = [
            sys.executable,
            "-m",
            "podman_compose",
            "--podman-path",
            str(self.engine.program),
            "--project-name",
            PROJECT,
            *files,
            *arguments,
        ]
        env = {**os.environ, "API_PORT": str(self.port), **server_images()}
        return executed(command, check=check, minutes=minutes, env=env, cwd=self.folder)

    def secret(self, name: str) -> str:
        """What a file of a secret holds."""
        return (self.folder / "secrets" / name).read_text("utf-8").strip()

    async def up(self) -> None:
        """Start everything, in the order of docker-compose.yml; podman's own health checks would
        need systemd.
        """
        await self.start(*self.buses, *STORES)
        for job in JOBS:
            self.compose("up", "--detach", "--no-deps", "--no-build", job)
            self.ended(job)
        await self.start(*SERVICES)

    async def start(self, *services: str, profile: str = "") -> None:
        """Start containers and wait until all of them are healthy."""
        profiles = ["--profile", profile] if profile else []
        self.compose(*profiles, "up", "--detach", "--no-deps", "--no-build", *services)
        for name in services:
            await self.healthy(name)

    async def healthy(self, service: str) -> None:
        """Wait until a container's own health check passes."""

        async def passes() -> bool:
            return (
                self.engine.run("healthcheck", "run", container(service), check=False).returncode
                == 0
            )

        try:
            await until(passes, f"{service} is healthy", seconds=600)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log(service)}") from None

    def ended(self, job: str) -> None:
        """Wait until a container that is to end has ended well."""
        code = self.engine.run("wait", container(job), minutes=10.0).stdout.strip()
        assert code == "0", f"{job} ended with code {code}\n{self.log(job)}"

    def kill(self, service: str) -> None:
        """SIGKILL to the first process of a container, as the kernel does it when memory is
        short.
        """
        self.engine.run("kill", "--signal", "KILL", container(service))
        self.engine.run("wait", container(service))

    def down(self, *, volumes: bool = False) -> None:
        """Stop and remove all containers and networks, and the volumes if told so."""
        names = ("monitoring", "tools", "operator", "webhooks", "apart")
        profiles = [word for name in names for word in ("--profile", name)]
        self.compose(
            *profiles,
            "down",
            "--timeout",
            "60",
            *(["--volumes"] if volumes else []),
            check=not volumes,
        )

    def log(self, service: str) -> str:
        """The end of what a container wrote."""
        process = self.engine.run("logs", "--tail", "40", container(service), check=False)
        return f"{process.stdout[-3000:]}\n{process.stderr[-3000:]}"

    def command(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of the command line in a container of its own."""
        return self.compose(
            "--profile", "tools", "run", "--rm", "--no-deps", "-T", "cli", *arguments, check=check
        )

    def beside(
        self, network: str, *command: str, secrets: Iterable[str] = (), files: Iterable[str] = ()
    ) -> str:
        """What a command prints in a container of the image, on a network of the deployment.

        It finds the secrets below /run/secrets, a user's address as nats_url; files are named
        `here:there`. Where the bus speaks TLS it has the certificate of clients, too.
        """
        secret_files = [
            (name, "nats_url" if name.startswith("nats_url_") else name) for name in secrets
        ]
        certificates = [
            ("tls/ca.pem", "bus_ca.pem"),
            ("tls/client.pem", "bus_client.pem"),
            ("tls/client.key", "bus_client.key"),
        ]
        mounts = [*secret_files, *(certificates if self.encrypted else [])]
        volumes = [
            *(f"{self.folder}/secrets/{here}:/run/secrets/{there}" for here, there in mounts),
            *files,
        ]
        options = [word for volume in volumes for word in ("--volume", f"{volume}:ro")]
        return self.engine.run(
            "run",
            "--rm",
            "--network",
            f"{PROJECT}_{network}",
            "--read-only",
            "--tmpfs",
            "/tmp",
            "--cap-drop",
            "ALL",
            *options,
            "localhost/lightstream:0.1.0",
            *command,
            minutes=10.0,
        ).stdout

    def json(self, *arguments: str) -> Any:
        """What a command of the command line answers with --json."""
        return json.loads(self.command(*arguments, "--json").stdout)


def container(service: str) -> str:
    """The name of a service's container."""
    return f"{PROJECT}_{service}_1"


def deployment(engine: Engine, folder: Path, *files: str) -> Deployment:
    """Copy the files, make the secrets, and have an image of every server. Skips where
    podman-compose is missing.
    """
    if importlib.util.find_spec("podman_compose") is None:
        missing(
            "docker-compose.yml is brought up by podman-compose (make compose-test installs it)"
        )
    files = ("docker-compose.yml", *files)
    shutil.copytree(REPOSITORY / "deploy", folder / "deploy")
    for file in files:
        shutil.copy(REPOSITORY / file, folder)
    users = executed(
        [sys.executable, "-m", "operations.bus_accounts", f"{PUBLISHER}=harbour"], cwd=REPOSITORY
    )
    (folder / "deploy/nats/users.conf").write_text(users.stdout, "utf-8")
    executed(
        [
            "sh",
            str(folder / "deploy/make-env"),
            *(["--tls"] if "docker-compose.tls.yml" in files else []),
        ]
    )
    with (folder / ".env").open("a") as env:
        env.writelines(f"{name}={value}\n" for name, value in SETTINGS.items())
    with (folder / "secrets/api_keys").open("a") as keys:
        keys.write(f",reader:{READER}:default:read")
    services = stand_ins(engine, folder)
    service_names = {
        name
        for file in files
        for name in yaml.safe_load((folder / file).read_text("utf-8"))["services"]
    }
    buses = {
        name: services["nats"] for name in BUSES if "nats" in services and name in service_names
    }
    # JSON is YAML.
    (folder / "docker-compose.override.yml").write_text(
        json.dumps({"services": {**services, **buses}}), "utf-8"
    )
    return Deployment(engine, folder, free_port(), files, frozenset(services))

"""Stand-ins for the servers' images, where no registry answers: images of Debian with their
programs mounted.
"""

import re
import shutil
from pathlib import Path
from typing import Any

from embedded.servers.nats import executable
from runtime.errors import ConfigurationError
from tests.architecture.sources import REPOSITORY
from tests.containers.base_images import stands_in
from tests.containers.engine import HOME, Engine, executed
from tests.support import milvus_server, neo4j_server
from tests.support.prometheus import prometheus
from tests.support.servers import missing

FILES = Path(__file__).parent
SERVERS = ("nats", "mongo", "neo4j", "milvus", "prometheus")
"""Grafana is not among them: no package registry has it."""


def server_images() -> dict[str, str]:
    """The images of the servers by the variables that name them, in full."""
    text = (REPOSITORY / "docker-compose.yml").read_text("utf-8")
    images = dict(re.findall(r"\$\{([A-Z0-9]+_IMAGE):-([^}]+)\}", text))
    variables = {f"{name.upper()}_IMAGE" for name in SERVERS}
    return {
        name: f"docker.io/{image if '/' in image else f'library/{image}'}"
        for name, image in images.items()
        if name in variables
    }


def stand_ins(engine: Engine, folder: Path) -> dict[str, Any]:
    """Have an image of every server; for each that is a stand-in, what docker-compose.yml has to
    mount besides.
    """
    services: dict[str, Any] = {}
    for name in SERVERS:
        image = server_images()[f"{name.upper()}_IMAGE"]
        is_stand_in = engine.has(image) and stands_in(engine, image)
        there = (
            engine.has(image)
            or not engine.run("pull", "--quiet", image, check=False, minutes=15.0).returncode
        )
        if is_stand_in or not there:
            build = [
                "build",
                "--format",
                "docker",
                "--pull=never",
                "--build-arg",
                f"SERVER={name}",
                "--tag",
                image,
            ]
            engine.run(*build, "--file", str(FILES / "Containerfile"), str(FILES))
        if stands_in(engine, image):
            services[name] = {"volumes": _programs(name, folder)}
    _without_choice(folder, set(services))
    return services


def _without_choice(folder: Path, names: set[str]) -> None:
    """Write what a stand-in cannot be told: MongoDB's knows no users, Milvus's has one first
    password.
    """
    values = {
        "mongo": {"documents_url": "mongodb://mongo:27017"},
        "milvus": {"milvus_root_token": milvus_server.ROOT},
    }
    for name in names & set(values):
        for secret, value in values[name].items():
            file = folder / "secrets" / secret
            file.chmod(0o644)
            file.write_text(value, "utf-8")


def _programs(name: str, folder: Path) -> list[str]:
    """What is mounted into a stand-in."""
    if name == "nats":
        try:
            return [f"{executable()}:/usr/local/bin/nats-server:ro"]
        except ConfigurationError as error:
            missing(str(error))
    if name == "prometheus":
        return [f"{prometheus().server}:/usr/local/bin/prometheus:ro"]
    if name == "milvus":
        return _milvus(folder)
    java = Path(shutil.which("java") or missing("stand-ins need java")).resolve().parents[1]
    jvm = [
        f"{java}:/java:ro",
        *([f"{etc}:{etc}:ro" for etc in Path("/etc").glob("java-*-openjdk")]),
    ]
    return [*jvm, *(_file_store() if name == "mongo" else [f"{neo4j_server.jars()}:/jars:ro"])]


def _file_store() -> list[str]:
    """The jars of mongo-java-server that keep a store in a file, and our launcher, compiled."""
    jars = HOME / "mongo"
    launcher = HOME / "launcher"
    if not jars.exists():
        command = [
            "mvn",
            "-B",
            "-q",
            "-f",
            str(FILES),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
        ]
        executed([*command, f"-DoutputDirectory={jars}.half"], minutes=10.0)
        Path(f"{jars}.half").rename(jars)
    executed(["javac", "-cp", f"{jars}/*", "-d", str(launcher), str(FILES / "FileLauncher.java")])
    return [f"{jars}:/jars:ro", f"{launcher}:/launcher:ro"]


def _milvus(folder: Path) -> list[str]:
    """The server of the Python package, with the ports and the folder that its image has."""
    binaries = milvus_server.binaries()
    package = milvus_server.package()
    config: Any = package.MilvusServerConfig(data_dir=str(folder / "milvus"))
    etcd = "    dir: {{ etcd_data_dir }}"
    assert etcd in config.template_text, "the configuration template has changed"
    config.template_text = config.template_text.replace(
        etcd, f"{etcd}\n  config:\n    path: /milvus/configs/etcd.yaml"
    )
    config.set("authorization_enabled", True)
    config.resolve_storage()
    config.write_config()
    folder_written = folder / "milvus" / "configs"
    file = folder_written / "milvus.yaml"
    file.write_text(file.read_text().replace(str(folder / "milvus"), "/var/lib/milvus"))
    return [f"{binaries}:/milvus/bin:ro", f"{folder_written}:/standin:ro"]

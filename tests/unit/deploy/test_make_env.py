"""What deploy/make-env and deploy/pin-images write: secrets that fit together, and images by
digest.
"""

import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import yaml

from operations import bus_accounts
from runtime.bus.nats.addresses import parse_bus_address
from services.gateway.auth.permissions import parse_keys
from tests.architecture.sources import REPOSITORY
from tests.support.servers import missing
from tests.unit.deploy.test_deploy import ALL, COMPOSE, IMAGE, OURS, TEXT

TLS: dict[str, Any] = yaml.safe_load((REPOSITORY / "docker-compose.tls.yml").read_text("utf-8"))
CLUSTER_TLS: dict[str, Any] = yaml.safe_load(
    (REPOSITORY / "docker-compose.cluster-tls.yml").read_text("utf-8")
)


def make_env(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of `deploy/make-env`, which writes beside its own folder."""
    script = folder / "deploy" / "make-env"
    script.parent.mkdir(exist_ok=True)
    script.write_bytes((REPOSITORY / "deploy/make-env").read_bytes())
    (folder / "docker-compose.yml").write_text(TEXT, "utf-8")
    return subprocess.run(
        ["sh", str(script), *options], capture_output=True, text=True, check=False
    )


def variables(file: Path) -> dict[str, str]:
    lines = [
        line for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#")
    ]
    return dict(line.split("=", 1) for line in lines)


def made_secrets(folder: Path) -> dict[str, str]:
    """What is in the folder of secrets."""
    return {
        file.name: file.read_text("utf-8")
        for file in (folder / "secrets").iterdir()
        if file.is_file()
    }


def test_every_secret_is_made_and_is_nobody_else_s_to_read(tmp_path: Path) -> None:
    process = make_env(tmp_path)
    result = made_secrets(tmp_path)
    assert process.returncode == 0, process.stderr
    assert set(COMPOSE["secrets"]) <= set(result)
    assert {entry["file"] for entry in COMPOSE["secrets"].values()} == {
        f"./secrets/{name}" for name in COMPOSE["secrets"]
    }
    # Nobody else here may open the folder; a container's user, who is another, may read the file
    # that it is given.
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert all(file.stat().st_mode & 0o444 == 0o444 for file in (tmp_path / "secrets").iterdir())
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert (result["llm_api_key"], result["embedding_api_key"], variables(tmp_path / ".env")) == (
        "",
        "",
        {},
    )
    passwords = re.findall(r"k[0-9a-f]{48}", "".join(result.values()))
    assert len(set(passwords)) == len(bus_accounts.USERS) + 13
    assert not [password for password in passwords if password in process.stdout + process.stderr]


def test_the_secrets_of_one_account_are_the_same_on_both_sides(tmp_path: Path) -> None:
    make_env(tmp_path)
    result = made_secrets(tmp_path)
    bus = variables(tmp_path / "secrets" / "nats_passwords")
    assert set(bus) == {
        *(user.password_variable for user in bus_accounts.USERS),
        "NATS_ROUTES_PASSWORD",
    }
    for user in bus_accounts.USERS:
        url = f"nats://{user.name}:{bus[user.password_variable]}@nats:4222\n"
        assert result[f"nats_url_{user.name}"] == url
    password = result["mongo_password"].strip()
    assert (
        result["documents_url"]
        == f"mongodb://lightstream:{password}@mongo:27017/?authSource=lightstream\n"
    )
    assert result["neo4j_auth"] == f"neo4j/{result['neo4j_password']}"
    root = yaml.safe_load(result["milvus_user.yaml"])["common"]["security"]["defaultRootPassword"]
    assert (result["milvus_root_token"], result["milvus_token"][:13]) == (
        f"root:{root}\n",
        "lightstream:k",
    )


def test_prometheus_has_a_key_that_only_reads_beside_those_of_an_older_env_file(
    tmp_path: Path,
) -> None:
    cases = {
        "": "prometheus:{key}:*:read",
        "LIGHTSTREAM_API_KEYS='site:k0123456789abcdef:a:read'": "site:k0123456789abcdef:a:read,prometheus:{key}:*:read",  # noqa: E501
        "LIGHTSTREAM_API_KEYS=prometheus:k0123456789abcdef:*:read": "prometheus:k0123456789abcdef:*:read",  # noqa: E501
    }
    for number, (line, keys) in enumerate(cases.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        if line:
            (folder / ".env").write_text(
                f"{line}\nAUTH_ACCOUNTS='ada:{{bcrypt}}$2b$12$x'\nTOKEN_SECRET=kold\n"
            )
        make_env(folder)
        result = made_secrets(folder)
        assert result["api_keys"].strip() == keys.format(key=result["prometheus_key"].strip())
        assert parse_keys(result["api_keys"].strip())["prometheus"][1].access_right == "read"
        accounts = ("ada:{bcrypt}$2b$12$x\n", "kold\n") if line else ("", result["token_secret"])
        assert (result["auth_accounts"], result["token_secret"]) == accounts


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    make_env(tmp_path)
    before = made_secrets(tmp_path)
    env = (tmp_path / ".env").read_text()
    again = make_env(tmp_path)
    assert (again.returncode, "is there already" in again.stderr) == (0, True)
    assert (made_secrets(tmp_path), (tmp_path / ".env").read_text()) == (before, env)


def test_an_older_env_file_s_passwords_are_kept_and_what_reaches_no_container_is_told(
    tmp_path: Path,
) -> None:
    older_lines = "NATS_QUERY_PASSWORD=kold1\nMILVUS_PASSWORD=kold2\nMONGO_PASSWORD=kold3\nLIGHTRAG_API_KEY=kold4\nLLM_MODEL=m\n"  # noqa: E501
    (tmp_path / ".env").write_text(f"{older_lines}LLM_BASEURL=https://private.example")
    again = make_env(tmp_path)
    assert again.returncode == 1
    names = [
        line.split()[0] for line in again.stderr.splitlines() if "reaches no container" in line
    ]
    assert names == ["LLM_BASEURL"]
    assert len([line for line in again.stderr.splitlines() if "take it out of .env" in line]) == 4
    assert "private.example" not in again.stdout + again.stderr
    result = made_secrets(tmp_path)
    assert result["nats_url_query"] == "nats://query:kold1@nats:4222\n"
    assert (result["milvus_root_token"], result["api_key"]) == ("root:kold2\n", "kold4\n")
    assert "lightstream:kold3@" in result["documents_url"]


def test_what_the_env_file_offers_besides_is_read_by_somebody(tmp_path: Path) -> None:
    make_env(tmp_path)
    offered_names = set(re.findall(r"^#([A-Z_]+)=", (tmp_path / ".env").read_text(), re.MULTILINE))
    passed_names = {
        name
        for container in ALL.values()
        for name, value in container.get("environment", {}).items()
        if value is None
    }
    assert offered_names <= passed_names | set(re.findall(r"\$\{(\w+):-", TEXT))


def pin_images(folder: Path, *arguments: str, digest: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of `deploy/pin-images`, with a registry that says this digest of every image."""
    if not (folder / ".env").exists():
        make_env(folder)
    docker = folder / "bin" / "docker"
    docker.parent.mkdir(exist_ok=True)
    docker.write_text(f"#!/bin/sh\necho '{digest}'\n")
    docker.chmod(0o755)
    script = folder / "deploy" / "pin-images"
    script.write_bytes((REPOSITORY / "deploy/pin-images").read_bytes())
    command = ["sh", str(script), *arguments]
    environ = {"PATH": f"{docker.parent}:/usr/bin:/bin"}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_images_are_pinned_by_what_the_registry_says_and_the_check_tells_which_are_not(
    tmp_path: Path,
) -> None:
    digest = f"sha256:{'a' * 64}"
    check = pin_images(tmp_path, "--check", digest=digest)
    assert (check.returncode, len(check.stderr.splitlines())) == (1, 7)
    before = variables(tmp_path / ".env")
    for _ in range(2):
        assert pin_images(tmp_path, digest=digest).returncode == 0
        images = {name: f"{image}@{digest}" for name, image in IMAGE.findall(TEXT)}
        assert variables(tmp_path / ".env") == before | images
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert pin_images(tmp_path, "--check", digest=digest).returncode == 0
    (tmp_path / "docker-compose.yml").write_text(TEXT.replace("nats:2", "nats:3"), "utf-8")
    stale = pin_images(tmp_path, "--check", digest=digest)
    assert (stale.returncode, stale.stderr.count("NATS_IMAGE")) == (1, 1)


def test_a_registry_that_names_no_digest_pins_nothing(tmp_path: Path) -> None:
    make_env(tmp_path)
    before = (tmp_path / ".env").read_text()
    refusal = pin_images(tmp_path, digest="unauthorized")
    assert (refusal.returncode, "no digest of" in refusal.stderr) == (1, True)
    assert (tmp_path / ".env").read_text() == before


def test_with_tls_every_address_says_where_a_container_has_the_files(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        missing("certificates are made with openssl")
    make_env(tmp_path)
    plain_secrets = made_secrets(tmp_path)
    shutil.copy(REPOSITORY / "deploy/make-certificates", tmp_path / "deploy")
    for _ in range(2):
        process = make_env(tmp_path, "--tls")
        assert process.returncode == 0, process.stderr
    for name, address in plain_secrets.items():
        if name.startswith("nats_url_"):
            bus = parse_bus_address((tmp_path / "secrets" / name).read_text("utf-8").strip())
            assert bus.credentials == parse_bus_address(address.strip()).credentials
            assert bus.tls
            assert set(vars(bus.tls).values()) == secrets_mounted(TLS["services"]["query"])
    files = {entry["file"] for entry in TLS["secrets"].values()}
    assert all((tmp_path / file).stat().st_mode & 0o444 == 0o444 for file in files)
    assert "./secrets/tls/ca.key" not in files
    assert stat.S_IMODE((tmp_path / "secrets/tls/ca.key").stat().st_mode) == 0o600


def test_everybody_on_the_bus_is_given_the_files_of_tls() -> None:
    clients = {
        name
        for name in OURS
        if any("nats_url" in str(secret) for secret in ALL[name].get("secrets", ()))
    }
    assert set(TLS["services"]) == {"nats", *clients}
    for name in clients:
        assert secrets_mounted(TLS["services"][name]) == {
            "/run/secrets/bus_ca.pem",
            "/run/secrets/bus_client.pem",
            "/run/secrets/bus_client.key",
        }
    servers = [
        TLS["services"]["nats"],
        CLUSTER_TLS["services"]["nats-2"],
        CLUSTER_TLS["services"]["nats-3"],
    ]
    files = set(
        re.findall(r'"(/tls/[^"]+)"', (REPOSITORY / "deploy/nats/tls.conf").read_text("utf-8"))
    )
    assert all(secrets_mounted(server) == files for server in servers)
    commands = [TLS["services"]["nats"], *CLUSTER_TLS["services"].values()]
    assert all(
        (REPOSITORY / "deploy/nats" / Path(server["command"][-1]).name).exists()
        for server in commands
    )


def secrets_mounted(container: dict[str, Any]) -> set[str]:
    """Where a container has the files of secrets that it lists."""
    return {
        secret["target"] if isinstance(secret, dict) else f"/run/secrets/{secret}"
        for secret in container["secrets"]
    }

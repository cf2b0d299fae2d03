"""docker-compose.cluster.yml makes three buses of the one, and changes nothing else."""

from typing import Any

import yaml

from tests.architecture.sources import REPOSITORY

ONE_BUS: dict[str, Any] = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text("utf-8"))[
    "services"
]["nats"]
CLUSTER: dict[str, Any] = yaml.safe_load(
    (REPOSITORY / "docker-compose.cluster.yml").read_text("utf-8")
)


def test_the_buses_of_a_cluster_differ_from_the_one_in_their_names_alone() -> None:
    services = CLUSTER["services"]
    buses = {name: service for name, service in services.items() if name.startswith("nats")}
    assert set(services) == {*buses, "topology"}
    names = [bus["environment"]["NATS_SERVER_NAME"] for bus in buses.values()]
    assert names == ["nats-1", "nats-2", "nats-3"]
    assert {bus["environment"]["NATS_PEERS"] for bus in buses.values()} == {" ".join(names)}
    for name, bus in buses.items():
        full_service = {**ONE_BUS, **bus}
        for key in set(ONE_BUS) - {"command", "networks", "volumes"}:
            assert full_service[key] == ONE_BUS[key], (name, key)
        assert full_service["command"] == [
            "nats-server",
            "--config",
            "/etc/lightstream/cluster.conf",
        ]
        assert full_service["volumes"] == [f"{name}:/data", "./deploy/nats:/etc/lightstream:ro"]
        host_names = {name, *bus["networks"]["inside"]["aliases"]}
        assert {"nats", bus["environment"]["NATS_SERVER_NAME"]} <= host_names
    assert services["topology"]["command"] == [
        "lightstream",
        "topology",
        "apply",
        "--replicas",
        "3",
    ]
    assert set(CLUSTER["volumes"]) == set(buses) - {"nats"}
    configuration = (REPOSITORY / "deploy/nats/cluster.conf").read_text("utf-8")
    assert 'include "nats-server.conf"' in configuration
    assert 'include "routes.conf"' in configuration
    routes = (REPOSITORY / "deploy/nats/routes.conf").read_text("utf-8")
    assert "password: $NATS_ROUTES_PASSWORD" in routes

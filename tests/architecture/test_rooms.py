"""Five services, the same rooms: who has read one has read all."""

import ast
import importlib
import re
from typing import Any, get_args, get_type_hints

import pytest

from contracts.events import EVENTS, Event
from contracts.registry import PRODUCERS, consuming_services, service_of
from contracts.registry import SERVICES as STAGES
from contracts.topology import CONSUMERS
from operations.configuration import SETTINGS
from runtime.environment_settings import EnvironmentSettings
from runtime.variables import variables
from tests.architecture.sources import FLOORS, REPOSITORY, SERVICES, modules, parsed

every_service = pytest.mark.parametrize("service", SERVICES)


def folder(service: str) -> Any:
    return REPOSITORY / "services" / service


def folders(service: str) -> list[str]:
    """The folders with the code of a service's process: questions have their HTTP routes apart."""
    return ["services/query", "services/gateway"] if service == "query" else [f"services/{service}"]


def readme(service: str) -> str:
    return "".join(
        (REPOSITORY / name / "README.md").read_text("utf-8") for name in folders(service)
    )


def heard(annotation: Any) -> set[str]:
    """The events a handler's parameter may hold; `Event` stands for all of them."""
    if isinstance(annotation, type) and issubclass(annotation, Event):
        return set(EVENTS) if annotation is Event else {annotation.type_name()}
    return {name for part in get_args(annotation) for name in heard(part)}


def started_by(service: str) -> Any:
    """The module that wires the service's handlers. Those of the query service run in the process
    of the gateway, or in one of their own.
    """
    return folder(service) / ("question_service.py" if service == "query" else "main.py")


def wired(service: str) -> set[str]:
    """The events that the handlers take which `started_by` wires."""
    result: set[str] = set()
    for node in ast.walk(parsed(started_by(service))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            f"services.{service}."
        ):
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                if alias.name.startswith("on_"):
                    result |= heard(
                        next(iter(get_type_hints(getattr(module, alias.name)).values()))
                    )
    return result


def said(service: str) -> set[str]:
    """The events that the service's code makes."""
    return {
        node.func.id
        for path in modules(*folders(service))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in EVENTS
    }


def settings_in(module: str) -> list[type[EnvironmentSettings]]:
    """The classes of settings that a module makes."""
    result = vars(importlib.import_module(module)).values()
    return [
        v
        for v in result
        if isinstance(v, type)
        and issubclass(v, EnvironmentSettings)
        and v is not EnvironmentSettings
        and v.__module__ == module
    ]


def test_the_services_are_those_the_contracts_name() -> None:
    result = {path.parent.name for path in (REPOSITORY / "services").glob("*/__init__.py")}
    assert result == {*SERVICES, "gateway"}
    assert set(SERVICES) == set(STAGES)


@every_service
def test_every_service_has_the_same_rooms(service: str) -> None:
    here = {path.stem for path in folder(service).iterdir()}
    assert {"settings", "README"} <= here
    deciding = {"answering", "context", "retrieval", "status"}
    assert {"domain", "handler", "main"} <= here or deciding <= here
    assert (folder(service) / "README.md").is_file()


@every_service
def test_a_service_takes_exactly_what_its_durables_deliver(service: str) -> None:
    durable_names = {durable.name for durable in CONSUMERS if service_of(durable) == service}
    main = started_by(service).read_text("utf-8")
    assert set(re.findall(r'Subscription\(\s*"([^"]+)"', main)) == durable_names
    # RetryRequested is the event processor's own matter; only the projection folds it.
    delivered_types = {name for name in EVENTS if service in consuming_services(name)}
    assert wired(service) == (
        delivered_types if service == "query" else delivered_types - {"RetryRequested"}
    )


@every_service
def test_a_service_says_only_what_the_registry_lets_it_say(service: str) -> None:
    assert {name for name in said(service) if service not in PRODUCERS[name]} == set()


@every_service
def test_a_readme_names_what_goes_in_what_comes_out_and_every_knob(service: str) -> None:
    text = readme(service)
    words = set(re.findall(r"`(\w+)`", text))
    takes = wired(service)
    assert takes <= words or takes == set(EVENTS)
    assert said(service) <= words
    rooms = [path for path in modules(*folders(service)) if path.name == "settings.py"]
    own_settings = [
        knobs
        for room in rooms
        for knobs in settings_in(".".join(room.relative_to(REPOSITORY).with_suffix("").parts))
    ]
    assert own_settings
    assert {name.upper() for knobs in own_settings for name in knobs.__annotations__} <= words
    assert len(text.splitlines()) >= 5


@pytest.mark.parametrize("service", [*SERVICES, "gateway"])
def test_a_readme_points_at_files_that_exist(service: str) -> None:
    text = (folder(service) / "README.md").read_text("utf-8")
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", text):
        assert (folder(service) / name).exists() or (REPOSITORY / name).exists(), name


SHARED_VARIABLES = {"LIGHTRAG_API_KEY": "what the API asks for is what commands send"}
"""Variables that two classes of settings declare, and why."""


def declarations() -> dict[str, list[tuple[type[EnvironmentSettings], Any]]]:
    """The classes that declare each variable themselves, each with its default. A class that gives
    an inherited setting another default declares nothing.
    """
    result: dict[str, list[tuple[type[EnvironmentSettings], Any]]] = {}
    for group in SETTINGS.values():
        inherited_fields = {
            name for base in group.__bases__ for name in getattr(base, "model_fields", {})
        }
        for name, field in group.model_fields.items():
            if name in group.__annotations__ and name not in inherited_fields:
                for variable in variables(name, field):
                    result.setdefault(variable, []).append((group, field.default))
    return result


def test_no_variable_is_declared_by_two_classes_of_settings() -> None:
    declared_twice = {
        variable: [group.__name__ for group, _ in places]
        for variable, places in declarations().items()
        if len({group for group, _ in places}) > 1 and variable not in SHARED_VARIABLES
    }
    assert declared_twice == {}


def test_a_variable_that_two_classes_share_has_one_default() -> None:
    places = declarations()
    for variable in SHARED_VARIABLES:
        assert len(places[variable]) == 2
        assert places[variable][0][1] == places[variable][1][1]


def test_every_class_of_settings_is_among_those_that_are_shown() -> None:
    own_settings = {
        group
        for path in modules(*FLOORS)
        if "Settings)" in path.read_text("utf-8")
        for group in settings_in(
            ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        )
    }
    assert own_settings == set(SETTINGS.values())

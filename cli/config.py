"""`config`: every setting, its value, where that comes from and what it means."""

import os
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from cli.common import DATA, Data, Json, echo, errors, print_json
from cli.settings_file import note_settings_file
from embedded.data_folder import DataFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from operations.configuration import ShownSetting

# `--help` answers without loading the services' settings.


Compose = Annotated[
    bool,
    typer.Option(
        "--compose",
        help="Only check what .env gives docker compose; code 1 if something is dropped.",
    ),
]


def config(
    context: typer.Context, data: Data = DATA, as_json: Json = False, compose: Compose = False
) -> None:
    """Show every setting with its value, where that comes from and what it means. Secrets are
    hidden.

    Also shown: what keeps a service from starting (then it ends with code 1), what contradicts
    itself, and variables that look like settings and are read by nobody.
    """
    with errors(as_json):
        if compose:
            _check_compose(as_json)
            return
        from operations import configuration  # noqa: PLC0415

        stack_settings, setter = _set_by_stack(data)
        settings = list(configuration.settings(os.environ, stack_settings, setter))
        faults = configuration.faults()
        odd = configuration.contradictions()
        unread = configuration.unread(os.environ)
        if as_json:
            print_json(
                {
                    "settings": [asdict(setting) for setting in settings],
                    "faults": faults,
                    "contradictions": odd,
                    "unread": unread,
                }
            )
        else:
            note_settings_file(context)
            _list(settings)
            _remark("nothing starts like this", faults, "red")
            _remark("contradictory", odd, "yellow")
            hints = [
                f"{name}{f': here {instead}' if instead else ''}"
                for name, instead in unread.items()
            ]
            _remark("read by nobody", hints, "yellow")
        if faults:
            raise typer.Exit(1)


def _check_compose(as_json: bool) -> None:
    """Say which variables of `.env` reach no container."""
    from operations.compose import dropped_variables  # noqa: PLC0415

    report = dropped_variables(os.environ)
    if as_json:
        print_json(asdict(report))
    else:
        hints = [
            f"{name}{f': here {meaning}' if meaning else ''}"
            for name, meaning in report.mistakes.items()
        ]
        _remark("nobody reads this variable of .env", hints, "red")
        _remark("reaches no container", report.unused, "yellow")
        if report.mistakes:
            echo("nothing is started: correct .env, or take these lines out of it")
    if report.mistakes:
        raise typer.Exit(1)


def _set_by_stack(data: Data) -> "tuple[Mapping[str, str], str]":
    """Return the settings that an embedded stack gives its services, and the name of that
    source.
    """
    from embedded.addresses import service_addresses  # noqa: PLC0415
    from operations.query_service import named_by_environment  # noqa: PLC0415

    if named_by_environment(data):
        return {}, ""
    folder = DataFolder.at(data)
    state = folder.read()
    known_variables = (
        {**service_addresses(folder, state), "port": str(state.ports["api"])}
        if folder.is_running()
        else dict.fromkeys(_STACK_SETTINGS, "")
    )
    variables = {name.upper(): value for name, value in known_variables.items()}
    return variables, f"the stack in {folder.path}"


_STACK_SETTINGS = (
    "nats_url",
    "documents_url",
    "neo4j_uri",
    "neo4j_username",
    "neo4j_password",
    "neo4j_database",
    "milvus_uri",
    "milvus_token",
    "milvus_index_type",
)


def _list(settings: "list[ShownSetting]") -> None:
    for of, group in groupby(settings, lambda setting: setting.of):
        echo(label=of[0].upper() + of[1:])
        for setting in group:
            meaning = f"  # {setting.meaning}" if setting.meaning else ""
            echo(f"  {setting.names[0]} = {setting.value}  ({setting.source}){meaning}")


def _remark(remark: str, lines: list[str], colour: str) -> None:
    for line in lines:
        echo(f": {line}", label=remark, colour=colour)

"""`init`: chooses models, tries them, and writes the settings file that every command reads."""

import asyncio
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.common import DATA, Data, Json, echo, errors, note, print_json, quiet_logs, silent
from cli.settings_file import DEFAULT_FILE, VARIABLE
from embedded.data_folder import DataFolder
from runtime.errors import InvalidInput, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from operations.model_services import ModelService
    from runtime.models.trial import Trial

BUILT_IN = "minilm"

TAKEN_AWAY = (
    "LLM_BINDING_HOST",
    "LLM_BINDING_API_KEY",
    "EMBEDDING_BINDING_HOST",
    "EMBEDDING_BINDING_API_KEY",
)
"""Other names of what is chosen here, which would count where the usual one is not set."""

NO_KEY = "not-needed"
"""Sent to a server that asks for no key: a language model is used where one is configured."""

SHOWN = 12
"""Most models of a service that are listed."""


@dataclass(frozen=True)
class Choice:
    """The models that were chosen; `binding` is empty where no language model is used."""

    binding: str = ""
    base_url: str = ""
    key: str = ""
    language_model: str = ""
    embedding_model: str = BUILT_IN
    dimension: int = 0
    region: str = ""
    """Of Bedrock; empty: as it is."""

    @property
    def variables(self) -> dict[str, str]:
        """The settings of these models; an empty value: as if it were not set."""
        is_remote = self.embedding_model != BUILT_IN
        binding = "" if self.binding == "openai" else self.binding
        return {
            **dict.fromkeys(TAKEN_AWAY, ""),
            **({} if self.binding else {"OPENAI_API_KEY": ""}),
            "LLM_BINDING": binding,
            "EMBEDDING_BINDING": binding if is_remote else "",
            **({"AWS_REGION": self.region} if self.region else {}),
            "LLM_BASE_URL": self.base_url,
            "LLM_API_KEY": self.key,
            "LLM_MODEL": self.language_model,
            "EMBEDDING_MODEL": self.embedding_model,
            "EMBEDDING_BASE_URL": self.base_url if is_remote else "",
            "EMBEDDING_API_KEY": self.key if is_remote else "",
            "EMBEDDING_DIM": str(self.dimension) if is_remote else "",
        }


def init(
    context: typer.Context,
    provider: Annotated[
        str, typer.Option(help="Whose models; without it you are asked.", metavar="NAME")
    ] = "",
    base_url: Annotated[
        str, typer.Option(help="Its address, where it is not the usual one.", metavar="URL")
    ] = "",
    model: Annotated[str, typer.Option(help="Language model.", metavar="NAME")] = "",
    embedding_model: Annotated[
        str,
        typer.Option(help="Embedding model; `minilm` is the built-in one.", metavar="NAME"),
    ] = "",
    key_stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the key from standard input.")
    ] = False,
    test: Annotated[
        bool, typer.Option(help="Ask the models once; nothing is written when one fails.")
    ] = True,
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Choose the models, try them, and write the settings file that every command reads.

    Without options it asks. The key is typed unseen, or read from standard input; it is written
    only into the file, which is yours alone. Other lines of the file stay.
    """
    with errors(as_json):
        quiet_logs()
        report = silent if as_json else note
        root: dict[str, str | None] = context.find_root().params
        named = root.get("env_file")
        file = Path(DEFAULT_FILE if named is None else named)
        key = sys.stdin.readline().strip() if key_stdin else ""
        choice = _choice(provider, base_url, model, embedding_model, key, test)
        trials = asyncio.run(_try(choice, report)) if test else []
        _write(file, choice)
        _show(file, choice, trials, DataFolder.at(data), as_json)


def _choice(
    provider: str, base_url: str, model: str, embedding_model: str, key: str, test: bool
) -> Choice:
    """Return what options say, and what is asked for the rest."""
    # `--help` answers without these.
    from operations.model_services import MODEL_SERVICES  # noqa: PLC0415
    from runtime.models.bindings import KEYLESS  # noqa: PLC0415

    name = provider or _asked_provider()
    if name not in MODEL_SERVICES:
        raise InvalidInput(f"--provider: {name} is none of {', '.join(MODEL_SERVICES)}")
    if name == "none":
        return Choice()
    service = MODEL_SERVICES[name]
    address = base_url or service.base_url
    if not address and service.needs_address:
        address = _prompt(f"address, as {service.form}")
    key = key or _asked_key(service)
    region = _asked_region() if service.binding == "bedrock" else ""
    offered = asyncio.run(_offered(service, address, key)) if test else []
    language = model or _asked_model("language model", service.language_model, offered)
    embedder = embedding_model or BUILT_IN
    if not embedding_model and service.embeds:
        embedder = _asked_model("embedding model", service.embedding_model or BUILT_IN, [])
    if embedder != BUILT_IN and not service.embeds:
        raise InvalidInput(f"{service.title} has no embedding models: take `{BUILT_IN}`")
    key = key or ("" if service.binding in KEYLESS else NO_KEY)
    choice = Choice(service.binding, address, key, language, embedder, region=region)
    return choice if embedder == BUILT_IN else asyncio.run(_with_dimension(choice))


async def _offered(service: "ModelService", address: str, key: str) -> list[str]:
    """Return what the service lists in OpenAI's form, which Ollama has beside its own."""
    from runtime.models.trial import offered_models  # noqa: PLC0415

    if service.binding == "ollama":
        return await offered_models(f"{address.rstrip('/').removesuffix('/v1')}/v1", key)
    return await offered_models(address, key) if service.binding == "openai" else []


async def _with_dimension(choice: Choice) -> Choice:
    """Return the choice with the dimension of its vectors, which the model is asked for."""
    from embedded.environment import settings_from  # noqa: PLC0415
    from runtime.models.open import KNOWN_DIMENSIONS  # noqa: PLC0415
    from runtime.models.trial import embedding_dimension  # noqa: PLC0415
    from runtime.settings import Settings  # noqa: PLC0415

    known_dimension = KNOWN_DIMENSIONS.get(choice.embedding_model)
    if known_dimension:
        return replace(choice, dimension=known_dimension)
    settings = settings_from(Settings, choice.variables)
    return replace(choice, dimension=await embedding_dimension(settings))


def _asked_region() -> str:
    """Return AWS's region, empty where it is set already or nobody can be asked."""
    is_set = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return "" if is_set or not sys.stdin.isatty() else _prompt("region", "us-east-1")


def _asked_provider() -> str:
    from operations.model_services import MODEL_SERVICES  # noqa: PLC0415

    names = list(MODEL_SERVICES)
    if not sys.stdin.isatty():
        raise InvalidInput(
            f"nobody can be asked here: give --provider, one of {', '.join(names)}, with --model "
            "and --key-stdin as it needs them"
        )
    echo("Whose language model?")
    for number, name in enumerate(names, 1):
        echo(f"  {number:>2}  {MODEL_SERVICES[name].title}")
    answer = _prompt("number or name", "1")
    is_number = answer.isdecimal() and 1 <= int(answer) <= len(names)
    return names[int(answer) - 1] if is_number else answer


def _asked_key(service: "ModelService") -> str:
    if not sys.stdin.isatty():
        key = os.environ.get("LLM_API_KEY", "")
        if service.needs_key and not key:
            raise InvalidInput(f"{service.title} needs a key: LLM_API_KEY, or --key-stdin")
        return key
    if not service.needs_key:
        return ""
    return str(typer.prompt("  key (not shown)", hide_input=True)).strip()


def _asked_model(kind: str, usual: str, offered: list[str]) -> str:
    """Return a model's name: the usual one where nobody can be asked."""
    proposal = usual or (offered[0] if offered else "")
    if not sys.stdin.isatty():
        if not proposal:
            raise InvalidInput(
                f"name the {kind}: --{kind.removeprefix('language ').replace(' ', '-')}"
            )
        return proposal
    if offered and not usual:
        echo(f"  offered: {', '.join(offered[:SHOWN])}{' …' if len(offered) > SHOWN else ''}")
    return _prompt(kind, proposal)


def _prompt(text: str, proposal: str = "") -> str:
    if not sys.stdin.isatty():
        raise InvalidInput(f"nobody can be asked here: {text}")
    return str(typer.prompt(f"  {text}", default=proposal or None)).strip()


async def _try(choice: Choice, report: "Callable[[str], None]") -> "list[Trial]":
    """Ask the chosen models. Raises ServiceError with what to do for one that does not answer."""
    from embedded.environment import settings_from  # noqa: PLC0415
    from runtime.models.trial import try_embedder, try_language_model  # noqa: PLC0415
    from runtime.settings import Settings  # noqa: PLC0415

    if not choice.binding:
        return []
    settings = settings_from(Settings, choice.variables)
    report(f"asks {choice.language_model} …")
    try:
        language = await try_language_model(settings)
        embedding = await try_embedder(settings)
    except ServiceError as error:
        error.args = (f"{error}; nothing is written (--no-test writes it untried)",)
        raise
    return [*([language] if language else []), embedding]


def _write(file: Path, choice: Choice) -> None:
    from runtime.settings_lines import write_settings  # noqa: PLC0415

    write_settings(file, choice.variables)


def _show(
    file: Path, choice: Choice, trials: "list[Trial]", folder: DataFolder, as_json: bool
) -> None:
    is_running = folder.is_running()
    if as_json:
        print_json(
            {
                "file": str(file),
                "variables": sorted(name for name, value in choice.variables.items() if value),
                "trials": [
                    {
                        "model": trial.model,
                        "result": trial.result,
                        "seconds": round(trial.seconds, 3),
                    }
                    for trial in trials
                ],
                "stack_is_running": is_running,
            }
        )
        return
    for trial in trials:
        echo(
            f"  {trial.model}: {trial.result} ({trial.seconds:.1f} s)", label="ok  ", colour="green"
        )
    overriding = [name for name in choice.variables if os.environ.get(name)]
    if overriding:
        note(f"set in this shell too, which counts before the file: {', '.join(overriding)}")
    echo(f"wrote {file}: {', '.join(name for name, value in choice.variables.items() if value)}")
    if file != Path(DEFAULT_FILE):
        echo(f"give {VARIABLE}={file}, or --env-file {file} before the command")
    option = folder.command_option
    echo(
        f"the stack runs with other settings until `lightstream down{option}` and `up`"
        if is_running
        else f"start with `lightstream up --detach{option}`"
    )

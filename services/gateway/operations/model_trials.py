"""The models that this process asks, and trials of them and of others."""

import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runtime.errors import InvalidInput, ServiceError
from runtime.models.connections import embedding_connection
from runtime.models.open import DEFAULT_EMBEDDING_MODEL
from runtime.models.pinned_hosts import PINNED_HOSTS
from runtime.models.roles import ROLES, Role, language_model
from runtime.settings_lines import variables_in, write_settings
from services.gateway.egress import MODEL, Network, resolved
from services.gateway.operations.model_candidates import (
    BUILT_IN,
    Candidate,
    Part,
    candidate_address,
    candidate_settings,
    check_identity,
    server_of,
    variables_of,
)
from services.query.errors import BadRequest
from services.query.settings import QuerySettings

if TYPE_CHECKING:
    from runtime.models.trial import Trial

# Whoever tries a model loads the wires of all providers; most processes never do.

TryReranker = Callable[[QuerySettings], Awaitable["Trial | None"]]
"""Has the reranker of the settings order two texts; None where there is none."""


@dataclass(frozen=True)
class ModelInUse:
    """A model as the settings name it. `roles`: of a language model, what it is asked for."""

    part: Part
    binding: str
    address: str
    model: str
    has_key: bool
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True)
class Saved:
    """What was written. `overridden`: variables that the environment sets too, which counts."""

    file: Path
    variables: tuple[str, ...]
    overridden: tuple[str, ...]
    trial: "Trial"


@dataclass(frozen=True)
class Models:
    """What the routes about models work with.

    `settings`: of the models of this process, None where another process asks them; `networks`:
    private ones that a candidate may be in; `settings_file`: which the start of this stack reads,
    None where there is none.
    """

    settings: QuerySettings | None
    try_reranker: TryReranker
    networks: Sequence[Network]
    settings_file: Path | None

    @property
    def of_here(self) -> QuerySettings:
        """The settings. Raises BadRequest where another process has them."""
        if self.settings is None:
            raise BadRequest("the query service asks the models, and it is another process")
        return self.settings

    async def try_in_use(self, part: Part, role: Role | None) -> "Trial | None":
        """Ask a model in use one thing; None where there is none. Raises ServiceError."""
        from runtime.models.trial import try_embedder, try_language_model  # noqa: PLC0415

        if part == "embedding":
            return await try_embedder(self.of_here)
        if part == "reranker":
            return await self.try_reranker(self.of_here)
        return await try_language_model(self.of_here, role or "query")

    async def try_candidate(self, candidate: Candidate) -> "tuple[Trial, int]":
        """Ask a candidate one thing, and return what it did and how many numbers a vector of it
        has. Raises ServiceError, and AddressRefused for an address that nobody may name.
        """
        settings = candidate_settings(self.of_here, candidate)
        address = candidate_address(candidate)
        pinned_hosts: dict[str, list[str]] = {}
        if address and server_of(address) not in self._servers():
            targets = await resolved(address, self.networks, MODEL)
            pinned_hosts = {targets[0].host: [target.address for target in targets]}
        token = PINNED_HOSTS.set(pinned_hosts)
        try:
            return await self._try(candidate, settings)
        finally:
            PINNED_HOSTS.reset(token)

    async def _try(self, candidate: Candidate, settings: QuerySettings) -> "tuple[Trial, int]":
        from runtime.models.trial import (  # noqa: PLC0415
            Trial,
            embedding_dimension,
            try_embedder,
            try_language_model,
        )

        if candidate.is_built_in:
            return await try_embedder(settings), 0
        if candidate.part == "embedding":
            start = time.monotonic()
            dimension = await embedding_dimension(settings)
            seconds = time.monotonic() - start
            return Trial(candidate.model, f"{dimension} numbers a text", seconds), dimension
        is_language = candidate.part == "language"
        trial = await (try_language_model if is_language else self.try_reranker)(settings)
        if trial is None:
            raise InvalidInput("it needs a key or an address")
        return trial, 0

    def _servers(self) -> set[tuple[str, str, int | None]]:
        """Return the servers that are asked already."""
        return {server_of(model.address) for model in models_in_use(self.of_here)}

    async def save(self, candidate: Candidate) -> Saved:
        """Try a candidate, and write it into the settings file. Raises BadRequest where there is no
        such file, and what `try_candidate` does.
        """
        if self.settings_file is None:
            raise BadRequest(
                "no settings file is known here: set the variables where this deployment has them"
            )
        check_identity(self.of_here, candidate)
        try:
            trial, dimension = await self.try_candidate(candidate)
        except ServiceError as error:
            error.args = (f"{error}; nothing is written",)
            raise
        variables = variables_of(self.of_here, candidate, dimension)
        file_variables = variables_in(self.settings_file)
        write_settings(self.settings_file, variables)
        return Saved(
            self.settings_file,
            tuple(name for name, value in variables.items() if value),
            tuple(
                name
                for name in variables
                if os.environ.get(name) and os.environ[name] != file_variables.get(name)
            ),
            trial,
        )


def models_in_use(settings: QuerySettings) -> list[ModelInUse]:
    """Return the models that these settings name: each language model once, the embedder and the
    reranker.
    """
    roles_by_model: dict[tuple[str, str, str, bool], list[Role]] = {}
    for role in ROLES:
        if model := language_model(settings, role):
            identity = model.binding, model.base_url, model.model, bool(model.connection.key)
            roles_by_model.setdefault(identity, []).append(role)
    models = [
        ModelInUse("language", binding, shown_address(address), name, has_key, tuple(roles))
        for (binding, address, name, has_key), roles in roles_by_model.items()
    ]
    models.append(_embedder(settings))
    if settings.rerank_binding not in ("", "null"):
        has_key = bool(settings.rerank_binding_api_key.get_secret_value())
        address = shown_address(settings.rerank_binding_host)
        models.append(
            ModelInUse("reranker", settings.rerank_binding, address, settings.rerank_model, has_key)
        )
    return models


def _embedder(settings: QuerySettings) -> ModelInUse:
    if not settings.has_embedding_endpoint:
        return ModelInUse("embedding", BUILT_IN, "", settings.embedding_model or "minilm", False)
    connection = embedding_connection(settings)
    binding = settings.embedding_binding
    return ModelInUse(
        "embedding",
        binding,
        shown_address(connection.address),
        settings.embedding_model or DEFAULT_EMBEDDING_MODEL,
        bool(connection.key),
    )


def shown_address(address: str) -> str:
    """Return an address without an account and parameters, which may be secret."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

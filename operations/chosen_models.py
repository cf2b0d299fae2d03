"""Embedding models that workspaces have for themselves: which the log says, and what embeds with
them.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import EMBEDDING, EmbeddingModelChosen, Event
from contracts.ids import event_id
from operations.command_bus import SOURCE
from operations.own_vectors import OwnModel
from runtime.bus.codec import decode
from runtime.bus.generations import OwnGeneration
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log, Message
from runtime.errors import ConfigurationError, InvalidInput, NewerVersion, Poison
from runtime.models.bindings import OFFLINE_EMBEDDERS
from runtime.models.open import as_setting, choosable_models
from runtime.projections.embedding import GenerationEmbedders
from runtime.settings import Settings


def choosable_model(settings: Settings, model: str) -> tuple[str, int]:
    """Return a model as EMBEDDING_MODEL names it, with the dimension that its settings need. Raises
    InvalidInput for one that no workspace can have for itself.
    """
    name = as_setting(model)
    if name in OFFLINE_EMBEDDERS:
        return name, 0
    built_in = ", ".join(OFFLINE_EMBEDDERS)
    if not settings.has_embedding_endpoint:
        raise InvalidInput(
            f"no workspace can have {name!r}: this stack has no embedding endpoint. "
            f"There are {built_in}"
        )
    configured = choosable_models(settings)[-1]
    if name == configured:
        return name, settings.embedding_dim
    raise InvalidInput(
        f"a workspace can have {built_in} or {configured}, for which this stack has settings: "
        f"{name!r} may need other ones. `lightstream rebuild vectors --embedding-model` changes "
        "the model of the whole stack"
    )


async def read_choices(log: Log) -> dict[str, EmbeddingModelChosen]:
    """Return what was chosen last, by workspace, without those that have the stack's model again.
    Raises `Unavailable`.
    """
    choices: dict[str, EmbeddingModelChosen] = {}
    sequence = 0
    subject = subjects.of_type(EmbeddingModelChosen.type_name())
    while message := await log.following(sequence, subject):
        sequence = message.sequence
        if envelope := _choice(message):
            choices[envelope[0]] = envelope[1]
    return {workspace: event for workspace, event in choices.items() if event.model}


def _choice(message: Message) -> tuple[str, EmbeddingModelChosen] | None:
    try:
        envelope = decode(message.data, message.subject, message.headers)
    except (Poison, NewerVersion):
        return None
    event = envelope.data
    return (envelope.workspace, event) if isinstance(event, EmbeddingModelChosen) else None


async def said_model(log: Log, workspace: str) -> str:
    """Return the model that was chosen last for a workspace; empty: the stack's. Raises
    `Unavailable`.
    """
    newest_message = await log.newest(workspace, EMBEDDING, EmbeddingModelChosen.type_name())
    choice = _choice(newest_message) if newest_message else None
    return choice[1].model if choice else ""


async def publish_choice(log: Log, workspace: str, choice: EmbeddingModelChosen) -> None:
    """Say which model a workspace has from now on, unless that was said last. Raises
    `Unavailable`.
    """
    if await said_model(log, workspace) == choice.model:
        return
    newest_message = await log.newest(workspace, EMBEDDING, choice.type_name())
    envelope: Envelope[Event] = wrap(
        choice,
        id=event_id(
            f"{workspace}/{newest_message.sequence if newest_message else 0}", choice.type_name()
        ),
        source=SOURCE,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    await log.publish(envelope)


async def open_chosen(
    embeddings: GenerationEmbedders, choices: Mapping[str, EmbeddingModelChosen]
) -> dict[str, OwnModel]:
    """Return what embeds the workspaces of these choices. Raises ConfigurationError for a model
    that the settings do not allow.
    """
    models: dict[str, OwnModel] = {}
    for workspace, choice in choices.items():
        try:
            embedding = await embeddings.by(choice.model, choice.dimension)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"workspace {workspace} is to be embedded by {choice.model}: {error}. Set it for "
                f"the services, or `lightstream embedding clear --workspace {workspace}` before"
            ) from None
        models[workspace] = OwnModel(choice.model, embedding)
    return models


async def open_own(
    embeddings: GenerationEmbedders, own_generations: Mapping[str, OwnGeneration]
) -> dict[str, OwnModel]:
    """Return what made these generations of workspaces. Raises InvalidInput where the store has
    lost one, ModelChanged for a model that the settings do not allow.
    """
    models: dict[str, OwnModel] = {}
    for workspace, of_workspace in own_generations.items():
        if await embeddings.configured.vectors.model_of(of_workspace.generation) is None:
            raise InvalidInput(
                f"generation {of_workspace.generation}, the vectors of workspace {workspace}, is "
                "not there: run `lightstream rebuild vectors`"
            )
        async with embeddings.of(of_workspace.generation) as embedding:
            models[workspace] = OwnModel(of_workspace.model, embedding)
    return models

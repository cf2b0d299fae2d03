"""The embedding model of a rebuild: changed only on request, and only to a model that the services
can use.
"""

from contextlib import suppress
from typing import TypeVar

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.events import VectorsIndexed
from contracts.graph import EmbeddingModel, of_origin
from lightstream_rag.errors import LightstreamError
from operations.chosen_models import read_choices
from operations.query_service import query_client
from operations.target import Target
from runtime.bus.codec import decode
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.nats.messages import StoredMessage
from runtime.bus.port import Message
from runtime.errors import ConfigurationError, InvalidInput, NewerVersion, Poison
from runtime.models.bindings import OFFLINE_EMBEDDERS
from runtime.models.open import KNOWN_DIMENSIONS, as_setting, can_embed
from runtime.settings import Settings

S = TypeVar("S", bound=Settings)


def with_embedding_model(settings: S, model: str, dimension: int) -> S:
    """The settings with the embedding model that was asked for, if one was.

    Raises ConfigurationError where services with these settings could not search what it makes,
    InvalidInput for a model whose dimension nobody said.
    """
    name = as_setting(model)
    if not name:
        return settings
    if not can_embed(settings, name):
        raise ConfigurationError(
            f"the services embed offline and could not search the vectors of {name}: "
            f"set EMBEDDING_MODEL={name} and EMBEDDING_BASE_URL or EMBEDDING_API_KEY for them, "
            "start them again, and then give this command again"
        )
    if name == settings.embedding_model:
        dimension = dimension or settings.embedding_dim
    if not (dimension or name in OFFLINE_EMBEDDERS or name in KNOWN_DIMENSIONS):
        raise InvalidInput(
            f"the dimension of {name} is not known here: say it with --embedding-dim"
        )
    return settings.model_copy(update={"embedding_model": name, "embedding_dim": dimension})


def refuse_unrequested_change(
    before: EmbeddingModel | None, now: EmbeddingModel, was_requested: bool
) -> None:
    """Raise ConfigurationError, naming both, where vectors would be of another model than before
    and nobody said so.
    """
    if before in (None, now) or was_requested:
        return
    old_setting = as_setting(before.name)
    new_setting = as_setting(now.name)
    raise ConfigurationError(
        f"the live vectors were made by {before}, and these would be made by {now}: "
        f"nothing was changed. Say `--embedding-model {new_setting}` to go over to the latter, "
        f"or `--embedding-model {old_setting}` to keep the former"
    )


async def last_used_model(jetstream: JetStreamContext) -> EmbeddingModel | None:
    """Return the model that the log names last; it stands for the model of lost vectors. None where
    a workspace with a model of its own was embedded last: that is nobody else's.
    """
    message = await _newest(jetstream, subjects.of_type(VectorsIndexed.type_name()))
    if message is None:
        return None
    try:
        envelope = decode(message.data, message.subject, message.headers)
    except (Poison, NewerVersion):
        return None
    event = envelope.data
    if not isinstance(event, VectorsIndexed):
        return None
    own_model = of_origin(await read_choices(NatsLog(jetstream)), envelope.workspace)
    return None if own_model else EmbeddingModel(event.model, event.dimension)


async def _newest(jetstream: JetStreamContext, subject: str) -> Message | None:
    """Return the event of this subject that the log took last."""
    messages: list[Message] = []
    for stream in (await log_streams(jetstream)).names:
        with suppress(NotFoundError), translated():
            messages.append(StoredMessage(await jetstream.get_last_msg(stream, subject)))
    return max(messages, key=lambda message: message.published_at, default=None)


async def refuse_unsearchable_model(target: Target, rebuild_model: EmbeddingModel) -> None:
    """Raise ConfigurationError where a deployment's query service has no endpoint and the model
    needs one.

    One that cannot be asked may have any: then this command's settings stand for it.
    """
    if target.folder is not None or as_setting(rebuild_model.name) in OFFLINE_EMBEDDERS:
        return
    try:
        async with query_client(target.api, "default") as client:
            configuration = (await client.health()).configuration or {}
    except (ConfigurationError, LightstreamError):
        return
    if configuration.get("embedding_binding") == "offline":
        raise ConfigurationError(
            f"the query service at {target.api} embeds offline and could not search the vectors of "
            f"{rebuild_model}: set EMBEDDING_MODEL={rebuild_model.name} and its endpoint for the "
            "services, start them again, and then rebuild"
        )

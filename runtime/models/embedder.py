"""Embeddings of an endpoint, whatever its wire: cut to what the model reads, in full batches,
checked one by one.

An answer without usable vectors is the fault of the provider or of a text. Which of the two is
found by asking for the vector of a sentence of ours: a provider that has none for that either is
paused, and no document fails for it. What a provider that works refuses is asked for in another
form, in smaller batches and in shorter texts.
"""

import asyncio
import copy
import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self, cast

import numpy as np
import structlog

from contracts.ids import sha256
from contracts.values import TokenUsage
from runtime.batching import batched_by_bytes
from runtime.errors import ModelRefused, TextFailure, Unavailable
from runtime.metrics.model_calls import CallKind
from runtime.models.chat import encodable
from runtime.models.cut_texts import note_cut
from runtime.models.embedding_names import FORM_DIGITS
from runtime.models.endpoint import Endpoint, estimated
from runtime.models.failures import Failure
from runtime.models.json_values import as_dict
from runtime.models.limits import Call
from runtime.models.port import Vector
from runtime.models.request_forms import RequestForms
from runtime.models.text_length import TextLength
from runtime.models.token_counts import count_of
from runtime.models.unit_vectors import length_of, numbers_of, unit_vectors
from runtime.models.wires.openai import Forms

logger = structlog.get_logger(__name__)

BATCH = 32
"""Texts a call unless a setting says otherwise; a provider that refuses so many is sent fewer."""

BATCH_BYTES = 48 * 1024
"""Bytes of the texts of a call: ten passages of 1,200 tokens, for a slow model has to answer within
the time limit.
"""

CONTROL = "The quick brown fox jumps over the lazy dog."
"""A text that every model can embed: its result shows whether the provider works."""

USELESS_TWICE = 2
"""Times that a text must have no usable vector, while the control has one, before it is given
up.
"""


class TextForm(NamedTuple):
    """How texts of one kind, documents or questions, are sent to models that tell them apart."""

    prefix: str = ""
    """What stands before each text, as `query: `."""
    fields: Mapping[str, Any] = MappingProxyType({})
    """Further fields of the request, as `input_type`."""


PLAIN = TextForm()


class VectorForm(NamedTuple):
    """How vectors are asked for."""

    sends_dimension: bool | None = None
    """Whether their dimension is sent; None: to models that are known to shorten vectors."""
    base64: bool = True
    """Whether base64 is asked for first."""
    documents: TextForm = PLAIN


DEFAULT_FORM = VectorForm()


def embedding_name(model: str, documents: TextForm) -> str:
    """Return the name that makes vectors of a model comparable: another form of documents makes
    other vectors.
    """
    if documents == PLAIN:
        return model
    form = json.dumps([documents.prefix, dict(documents.fields)], sort_keys=True)
    return f"{model}#{sha256(form)[:FORM_DIGITS]}"


class EndpointEmbedder:
    """Embeddings of an endpoint, each text once however often given.

    A call has `batch` texts, or fewer long ones. Vectors are asked for as base64, a quarter of the
    bytes of numbers as text. Where the provider refuses a call and yet embeds the control, the call
    is made in another form, then in two halves, and a text that is refused alone is cut; what is
    taken is remembered. `cut` shortens a text to what the model is known to read. Vectors are
    brought to length 1. A blank text is sent as one blank, which every provider accepts.

    Vectors of another dimension, too few or too many, ones that cannot be told apart and ones
    without a direction are `Unavailable`: once the provider or a setting is mended all texts can be
    embedded. `ModelRefused` is only a text that fails alone, however short it is cut, while the
    control is embedded.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        dimension: int,
        *,
        batch: int = BATCH,
        cut: Callable[[str], str] = str,
        form: VectorForm = DEFAULT_FORM,
    ) -> None:
        self.model = embedding_name(model, form.documents)
        self.dimension = dimension
        self._name = model
        self._texts = form.documents
        self._endpoint = endpoint
        self._batch = min(batch, endpoint.wire.max_texts)
        self._cut = cut
        self._kind = CallKind("embeddings", model, endpoint.settings)
        # Of others it is not known whether they can shorten their vectors, and some refuse the
        # parameter.
        sends_dimension = (
            "text-embedding-3" in model if form.sends_dimension is None else form.sends_dimension
        )
        size: dict[str, Any] = {"dimensions": dimension} if sends_dimension else {}
        wire = endpoint.wire
        base64_forms = wire.base64_forms if form.base64 else ()
        forms: Forms = (*base64_forms, *wire.number_forms)
        sized_forms: list[Mapping[str, Any]] = [{**form, **size} for form in forms]
        plain_form = forms[-1:] if size else ()
        self._forms = RequestForms(*sized_forms, *plain_form)
        self._length = TextLength()
        self._halvings = self._cuts = 0
        endpoint.control = self._control

    def of_questions(self, questions: TextForm) -> Self:
        """Return the embedder of questions that are compared with the documents of this one.

        It shares the endpoint with this one, which is the one to be closed, and what was learnt of
        it.
        """
        embedder = copy.copy(self)
        embedder._texts = questions
        return embedder

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order. When one call fails, the others are cancelled."""
        prepared_texts = [self._prepared(text) for text in texts]
        distinct = list(dict.fromkeys(prepared_texts))
        beginnings: dict[str, str] = {}
        tasks = [
            asyncio.create_task(self._batched(batch, beginnings))
            for batch in self._batches(distinct)
        ]
        try:
            embeddings = [vector for vectors in await asyncio.gather(*tasks) for vector in vectors]
        finally:
            for task in tasks:
                task.cancel()
            # Their turns are given back before anybody tries again.
            await asyncio.gather(*tasks, return_exceptions=True)
        vectors = dict(zip(distinct, embeddings, strict=True))
        for text, sent_text in zip(texts, prepared_texts, strict=True):
            embedded_length = len(beginnings.get(sent_text, sent_text)) - len(self._texts.prefix)
            if text.strip() and embedded_length < len(text):
                note_cut(text, max(0, embedded_length))
        return [vectors[text] for text in prepared_texts]

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _prepared(self, text: str) -> str:
        """Return the text as it is sent: with its prefix, cut, without half characters, never
        blank.
        """
        if not text.strip():
            return " "
        return self._length.cut(self._cut(encodable(self._texts.prefix + text)))

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        return batched_by_bytes(
            texts,
            lambda text: len(text.encode()),
            max_bytes=BATCH_BYTES,
            max_items=self._batch,
        )

    async def _batched(self, texts: list[str], beginnings: dict[str, str]) -> list[Vector]:
        """Return one vector per text, asked for in one call, and in smaller ones where that is
        refused.

        Texts that had to be cut are added to `beginnings`.
        """
        try:
            return await self._endpoint.tried(lambda: self._embed(texts))
        except (ModelRefused, TextFailure) as error:
            if len(texts) > 1:
                return await self._halved(texts, error, beginnings)
            return [await self._alone(texts[0], error, beginnings)]

    async def _halved(
        self, texts: list[str], error: Exception, beginnings: dict[str, str]
    ) -> list[Vector]:
        """Return the vectors of both halves. Later calls have as few texts if that was all that
        ailed this one.
        """
        size = (len(texts) + 1) // 2
        cuts = self._cuts
        vectors: list[Vector] = []
        for half in (texts[:size], texts[size:]):
            for batch in self._batches(half):
                vectors += await self._batched(batch, beginnings)
        if cuts == self._cuts:
            self._halvings += 1
            is_certain = isinstance(error, ModelRefused) or self._halvings > 1
            if is_certain and size < self._batch:
                self._batch = size
                logger.warning(
                    "fewer texts a call", model=self.model, texts=size, reason=str(error)
                )
        return vectors

    async def _alone(
        self, text: str, error: ModelRefused | TextFailure, beginnings: dict[str, str]
    ) -> Vector:
        """Return the vector of as much of a refused text as is taken. Raises the error if that is
        not its length.
        """
        self._cuts += 1
        if isinstance(error, TextFailure):
            try:
                return (await self._embed([text]))[0]
            except (ModelRefused, TextFailure) as second:
                error = second
        if isinstance(error, ModelRefused) and error.reason == "content":
            raise error

        async def embed(beginning: str) -> Vector | None:
            try:
                return (await self._embed([beginning]))[0]
            except (ModelRefused, TextFailure):
                return None

        if (shortened_text := await self._length.shortened(text, embed)) is None:
            raise error
        beginnings[text], vector = shortened_text
        return vector

    async def _embed(self, texts: list[str]) -> list[Vector]:
        """Return the vectors of one call. Raises `ModelRefused` or `TextFailure` where the texts
        are its failure.
        """
        text = "\x1f".join(texts)
        async with self._endpoint.call(self._kind, estimated(texts), text) as call:
            form = self._forms.best
            try:
                return await self._request(texts, call, form)
            except Failure as failure:
                if not self._forms.may_refuse(failure):
                    raise
                if not await self._finds_form(call):
                    raise self._endpoint.sender.certain(str(failure.provider)) from None
                failure.well = True
                if self._forms.best is form:
                    raise
            return await self._request(texts, call, self._forms.best)

    async def _finds_form(self, call: Call) -> bool:
        """Return whether the control is embedded in any form; the first such one is used from then
        on.
        """
        try:
            await self._endpoint.ask_control(call)
        except (Failure, Unavailable):
            return False
        return True

    async def _control(self, call: Call) -> None:
        await self._forms.ask(lambda form: self._request([CONTROL], call, form))

    async def _request(self, texts: list[str], call: Call, form: Mapping[str, Any]) -> list[Vector]:
        """Return the vectors of one request. Raises `Failure`, also for vectors that no store
        should hold.
        """
        body = {"model": self._name, "input": texts, **form, **self._texts.fields}
        wire = self._endpoint.wire
        answer = await self._endpoint.ask(wire.embedding(body), wire.vectors)
        cost = count_of(as_dict(answer.get("usage")).get("total_tokens"))
        usage = TokenUsage(prompt=cost, calls=1)
        call.usage = call.usage + usage if call.usage else usage
        call.cost = call.usage.prompt or None
        items = answer.get("data")
        if not isinstance(items, list):
            raise self._endpoint.strange()
        return self._check_vectors(cast(list[Any], items), texts)

    def _check_vectors(self, items: list[Any], texts: list[str]) -> list[Vector]:
        """Return the vectors in the order of the texts. Raises for vectors that no store should
        hold.
        """
        count = len(texts)
        if len(items) != count:
            raise self._useless(
                texts,
                f"{self.model} gave {len(items)} vectors for {count} texts: "
                "lower EMBEDDING_BATCH_NUM or choose another EMBEDDING_MODEL",
            )
        entries = [cast(dict[str, Any], item) if isinstance(item, dict) else {} for item in items]
        places = [item.get("index") for item in entries]
        if any(place is not None for place in places):
            if sorted(place if isinstance(place, int) else -1 for place in places) != list(
                range(count)
            ):
                raise self._useless(
                    texts,
                    f"{self.model} numbered its {count} vectors {places!s:.60}: "
                    "nobody can tell which text each is of; set EMBEDDING_BATCH_NUM to 1 or choose "
                    "another EMBEDDING_MODEL",
                )
            entries.sort(key=lambda item: item["index"])
        values = [item.get("embedding") for item in entries]
        return unit_vectors(values, self.dimension) or [
            self._unit(value, text) for value, text in zip(values, texts, strict=True)
        ]

    def _useless(self, texts: list[str], reason: str) -> Failure:
        """Return the failure of vectors that cannot be used, which one text may cause."""
        text = f"{reason}; other texts it embeds, and not {texts[0]!r:.80}"
        return Failure(Unavailable(reason), ModelRefused(text, "text"), USELESS_TWICE)

    def _unit(self, value: Any, text: str) -> Vector:
        try:
            numbers = numbers_of(value)
        except (TypeError, ValueError, OverflowError):
            numbers = np.full(self.dimension, math.nan)
        if len(numbers) != self.dimension:
            reason = (
                f"{self.model} gave {len(numbers) or 'no'} numbers, not {self.dimension}: "
                "set EMBEDDING_DIM to the dimension of this EMBEDDING_MODEL"
            )
            raise (
                self._endpoint.sender.certain(reason)
                if len(numbers)
                else self._useless([text], reason)
            )
        length = length_of(numbers)
        if not math.isfinite(length) or length == 0.0:
            raise self._useless(
                [text],
                f"{self.model} gave a vector that is {'zero' if length == 0.0 else 'not finite'}, "
                "which no search can use: see what ails it, or choose another EMBEDDING_MODEL",
            )
        return array("d", (numbers / length).tobytes())

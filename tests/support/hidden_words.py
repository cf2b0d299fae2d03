"""A workspace of documents with random access lists that change, whose every text has words of its
own: so whatever shows one of these shows that text.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI

from contracts.access import Access
from tests.support.access import behind, keyed
from tests.support.events import document, failed, sealed
from tests.support.pipeline import FollowedLog, settle, working
from tests.support.querying import QueryHarness

ADMIN, PORTAL = (f"k-{name}-0123456789abcdef" for name in ("adm", "portal"))
KEYS = f"adm:{ADMIN}:*:write,portal:{PORTAL}:*:write"
"""Both may write: only what is seen keeps the portal from anything."""

VIEWERS = ("", "user:ann", "group:legal", "user:bo, group:legal")
PRINCIPALS = ("user:ann", "user:bo", "group:legal", "group:sales", "everyone")
PAUSED = (
    "chunker",
    "extractor",
    "merger",
    "merger-extents",
    "indexer-chunks",
    "indexer-graph",
    "query-status",
)
"""Consumers that may be behind when something new is said of a document."""
BY_PARAGRAPH = {
    "strategy": "fixed_token",
    "params": {"split_by_character": "\n\n", "split_by_character_only": True},
}
"""Each paragraph is a chunk, so that a shorter text leaves chunks to take away."""

LOOKS = 2
"""How often a workspace is looked at while consumers are behind."""

HUBS = ("Ada Marlow", "Harbour Office", "Port Elm")
"""What every text speaks of, hidden or not."""


@dataclass
class Text:
    """One text of a document, from its first sequence to its last; and who could see it."""

    id: str
    file_name: str
    word: str
    begins: int
    ends: int | None = None
    gone_at: int | None = None
    """Where nothing was left of it anywhere."""
    access: list[tuple[int, Access | None]] = field(default_factory=list[Any])
    """What was said while it stood, each with its sequence."""

    @property
    def words(self) -> tuple[str, str]:
        """A name and a word that no other text has, in lower case."""
        return f"zor{self.word}vik", f"vexil{self.word}"

    @property
    def person(self) -> str:
        """The name that the text alone has."""
        return f"Zor{self.word}vik Marlow"

    def admitted_at(self, sequence: int, viewer: str) -> bool:
        """Whether anything was left of the text then, and the viewer might see it."""
        if not self.begins <= sequence < (self.gone_at or sequence + 1):
            return False
        return admits(self.access_at(sequence), viewer)

    def access_at(self, sequence: int) -> Access | None:
        """Who might see it by then."""
        return [access for place, access in self.access if place <= sequence][-1]


def admits(access: Access | None, viewer: str) -> bool:
    """Whether a viewer, as the header has it, may see what has this access."""
    return access is None or access.admits({*viewer.split(", ")} - {""})


def random_access(choice: random.Random) -> Access | None:
    """Nobody, somebody or everyone."""
    if choice.random() < 0.3:
        return None
    return Access(
        allow=tuple(choice.sample(PRINCIPALS, choice.randrange(3))),
        deny=tuple(choice.sample(PRINCIPALS[:3], choice.choice((0, 0, 1)))),
    )


@dataclass
class HiddenWords:
    """The workspace `w`, changed at random through its API, and what it must hide."""

    choice: random.Random
    log: FollowedLog = field(default_factory=FollowedLog)
    texts: list[Text] = field(default_factory=list[Text])
    words_of_people: set[str] = field(default_factory=set[str])
    """Names into which people merged entities, and what they wrote of some: they stay when their
    documents go.
    """
    look_around: Callable[[], Awaitable[None]] | None = None
    """Is called a few times while something is left of older texts."""
    looks: int = 0
    windows: list[int] = field(default_factory=list[int])
    """Places at which something was left of older texts."""

    def __post_init__(self) -> None:
        self.harness = QueryHarness(log=self.log)
        principals = "key:portal=on-behalf"
        config = behind(lightstream_api_keys=KEYS, lightstream_principals=principals)
        self.app: FastAPI = self.harness.app(config)
        self.admin = keyed(self.app, ADMIN, "w")

    def viewing(self, viewer: str) -> httpx.AsyncClient:
        """A client of a viewer."""
        client = keyed(self.app, PORTAL, "w")
        if viewer:
            client.headers["X-On-Behalf-Of"] = viewer
        return client

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        """The services are at work beside the API."""
        async with working(self.harness), self.admin:
            yield

    @property
    def current(self) -> dict[str, Text]:
        """The texts that stand, by document."""
        return {text.id: text for text in self.texts if text.ends is None}

    def hidden_words(self, viewer: str) -> list[str]:
        """Words that the viewer may find nowhere, not in any past: of documents that it does not
        see now, and of texts that it could never see.
        """
        words: list[str] = []
        for text in self.texts:
            if not self.sees(text.id, viewer):
                words += [text.file_name, *self._words_of(text)]
            elif not self.could_see(text, viewer):
                words += self._words_of(text)
        return words

    def could_see(self, text: Text, viewer: str) -> bool:
        """Whether the viewer could see the text at any time."""
        end = len(self.harness.log.messages)
        return any(text.admitted_at(place, viewer) for place in range(text.begins, end + 1))

    def saw_beginning(self, text: Text, viewer: str) -> bool:
        """Whether the viewer saw the document when it got the text: also what was left of others
        was for it.
        """
        return all(
            admits(sibling.access_at(text.begins), viewer)
            for sibling in self.texts
            if sibling.id == text.id
            and sibling.begins <= text.begins < (sibling.gone_at or text.begins + 1)
        )

    def _words_of(self, text: Text) -> list[str]:
        """The words of a text, without those that people said of one that is gone."""
        said_by_people = self.words_of_people if text.ends else set[str]()
        return [word for word in text.words if word not in said_by_people]

    def sees(self, id: str, viewer: str) -> bool:
        """Whether the viewer sees the document now."""
        text = self.current.get(id)
        return text is not None and admits(text.access[-1][1], viewer)

    async def change(self) -> None:
        """Do something that people do, and wait until it has its effect."""
        action = self.choice.choices(
            (self._add, self._replace, self._set_access, self._delete, self._merge, self._edit),
            (5, 3, 4, 1, 1, 1),
        )[0]
        await action()
        await self._settle()

    async def _settle(self) -> None:
        """Let all consumers go on until they are done."""
        self.log.resume()
        await settle(self.harness)
        end = len(self.log.messages)
        for text in self.texts:
            if text.ends and text.gone_at is None:
                text.gone_at = end
                self.windows.append(self.choice.randrange(text.ends, end))
                await self._fail_late(text)

    async def _fail_late(self, text: Text) -> None:
        """A service that was behind gives up what nobody needs any more, and quotes it."""
        version = document(text.id, text.begins, file_path=text.file_name)
        failure = failed("extractor", "ChunksCreated", version, 0, message=" ".join(text.words))
        await self.log.publish(sealed(failure, id=f"late-{text.word}"))

    @asynccontextmanager
    async def _behind(self) -> AsyncGenerator[None]:
        """Some consumers may be behind; what is seen then is looked at."""
        paused_count = self.choice.randrange(4)
        self.log.paused.update(self.choice.sample(PAUSED, paused_count))
        yield
        await settle(self.harness)
        if self.choice.random() < 0.3:
            await self._set_access()
        if self.look_around and self.looks < LOOKS and self.log.paused:
            self.looks += 1
            await self.look_around()

    async def _add(self) -> None:
        await self._put(f"kest{_letters(len(self.texts))}.md", random_access(self.choice))

    async def _replace(self) -> None:
        if self.current:
            text = self.choice.choice(list(self.current.values()))
            async with self._behind():
                await self._put_again(text)

    async def _put_again(self, text: Text) -> None:
        """A new text in the place of one that is there, or was deleted."""
        access = self.choice.choice((None, Access(), random_access(self.choice)))
        await self._put(text.file_name, access, text)

    async def _put(self, name: str, access: Access | None, before: Text | None = None) -> None:
        word = _letters(len(self.texts))
        paragraphs = [
            f"Zor{word}vik Marlow leads the Harbour Office in Port Elm. The Harbour Office keeps "
            f"the vexil{word} letter of Ada Marlow. Ada Marlow works with Zor{word}vik Marlow.",
            f"Ada Marlow shows the vexil{word} boat of Zor{word}vik Marlow to the Harbour Office.",
            f"Zor{word}vik Marlow paints the vexil{word} pier of Port Elm with Ada Marlow.",
        ]
        content = "\n\n".join(paragraphs[: self.choice.choice((1, 2, 3))])
        body: dict[str, Any] = {"text": content, "file_source": name, "chunking": BY_PARAGRAPH}
        if access is not None:
            body["access"] = access.model_dump(mode="json")
        answer = (await self._sent("POST", "/documents/text", body))["documents"][0]
        begins = self._sequence_of(answer["id"], "DocumentAdded")
        if before and before.ends is None:
            before.ends = begins
            access = access or before.access[-1][1]
        self.texts.append(Text(answer["id"], name, word, begins, access=[(begins, access)]))

    def _sequence_of(self, id: str, type_name: str) -> int:
        """The sequence of the newest event of a type about a document."""
        messages = self.harness.log.messages
        sequences = [
            message.sequence
            for message in messages
            if message.subject.endswith(f"{id}.{type_name}")
        ]
        return max(sequences, default=0)

    async def _set_access(self) -> None:
        if not self.current:
            return
        text = self.choice.choice(list(self.current.values()))
        access = random_access(self.choice)
        body = {"access": access.model_dump(mode="json") if access else None}
        answer = await self._sent("PUT", f"/documents/access?doc_id={text.id}", body)
        if answer["is_new"]:
            place = self._sequence_of(text.id, "AccessChanged")
            deleted_at = self._sequence_of(text.id, "DocumentDeleted")
            for sibling in self.texts:
                # Also of what is left of those before it, but for deleted ones.
                if (
                    sibling.id == text.id
                    and sibling.gone_at is None
                    and sibling.begins > deleted_at
                ):
                    sibling.access.append((place, access))

    async def _delete(self) -> None:
        if len(self.current) > 2:
            text = self.choice.choice(list(self.current.values()))
            async with self._behind():
                await self._sent("DELETE", "/documents/delete_document", {"doc_ids": [text.id]})
                text.ends = self._sequence_of(text.id, "DocumentDeleted")
                if self.choice.random() < 0.5:
                    await self._put_again(text)

    async def _merge(self) -> None:
        names = await self._names()
        if len(names) > 4:
            name, target = self.choice.sample(names, 2)
            body = {"entities_to_change": [name], "entity_to_change_into": target}
            await self._sent("POST", "/graph/entities/merge", body)
            self.words_of_people.add(target.split()[0].lower())

    async def _edit(self) -> None:
        if names := await self._names():
            name = self.choice.choice(names)
            description = "Somebody wrote this."
            texts = [text for text in self.current.values() if name in (*HUBS, text.person)]
            if texts:
                # Who edits sees everything, and may repeat what a document says of the entity.
                text = self.choice.choice(texts)
                description = f"Somebody wrote this of {' '.join(text.words)}."
                self.words_of_people.update(text.words)
            body = {"entity_name": name, "updated_data": {"description": description}}
            await self._sent("POST", "/graph/entity/edit", body)

    async def _names(self) -> list[str]:
        return (await self.admin.get("/graph/label/list")).json()

    async def _sent(self, method: str, path: str, body: Any) -> Any:
        answering = asyncio.create_task(self.admin.request(method, path, json=body))
        answer = await answering
        assert answer.is_success, f"{method} {path}: {answer.text}"
        return answer.json()


def _letters(number: int) -> str:
    """A number in letters, so that it is a part of a name."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")


def words_in(answer: httpx.Response, words: Sequence[str]) -> list[str]:
    """Those of the words that stand in an answer or its headers."""
    text = f"{answer.text}{answer.headers}".lower()
    return [word for word in words if word in text]

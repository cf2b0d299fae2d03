"""Uses the tools that a model calls, as its question may: of the documents that its asker sees and
its filter admits, at its place in the log.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import ValidationError

from runtime.errors import InvalidInput
from runtime.models.port import ToolCall
from services.query.answering.dependencies import QueryDependencies
from services.query.context.layout import entity_line, relation_line
from services.query.context.tool_results import names_text, passage_text, snippets_text
from services.query.context.tools import (
    ARGUMENTS,
    MOST_PASSAGES,
    Arguments,
    FindPaths,
    FindText,
    ReadPassages,
    Search,
)
from services.query.lookup.documents import StoredDocuments, document_named, passages_around
from services.query.lookup.entity_names import existing_name
from services.query.lookup.keywords import Keyword
from services.query.lookup.passage_search import search_names, search_passages
from services.query.lookup.paths import shortest_paths
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Keywords, Question, ignore_progress
from services.query.retrieval.in_force import in_force_first
from services.query.retrieval.results import RetrievalResult
from services.query.retrieval.retrieve import read_as_seen, retrieve, search_slot
from services.query.retrieval.scoping import DocumentIds, documents_in_scope
from services.query.retrieval.token_budget import fit_budget
from services.query.visibility.documents import ReadDocuments, RestrictedDocuments
from services.query.visibility.graph import BrowsedGraph, RestrictedGraph

MAX_PATH_LENGTH = 4
"""Relations of a path at most."""

MAX_PATHS = 3

MAX_NAMES = 10
"""Names of entities that find_text returns."""

NOTHING = "nothing"


@dataclass(frozen=True)
class ToolResult:
    """What a tool found: as the model reads it, and as an answer may rest on it. `error`: why it
    was called wrongly, else empty.
    """

    text: str
    retrieval: RetrievalResult = field(default_factory=RetrievalResult)
    error: str = ""


@dataclass(frozen=True)
class _View:
    """What one question sees of the documents and of the graph. `ids`: the documents, None for
    all.
    """

    question: Question
    ids: DocumentIds
    stored_documents: StoredDocuments
    graph: BrowsedGraph


@dataclass(frozen=True)
class ToolUse:
    """Uses tools for one question."""

    question: Question
    partitions: Partitions
    deps: QueryDependencies

    async def result(self, call: ToolCall, max_tokens: int) -> ToolResult:
        """Return what a call finds, in about `max_tokens` at most. What the model can mend is an
        error that it reads; raises `Unavailable`.
        """
        try:
            arguments = _arguments(call)
            if isinstance(arguments, Search):
                return await self._search(arguments, max_tokens)
            read = partial(self._look_up, arguments, max_tokens)
            return await read_as_seen(self.question, self.partitions, self.deps, read)
        except InvalidInput as error:
            return ToolResult(f"error: {error}", error=str(error))

    async def _search(self, arguments: Search, max_tokens: int) -> ToolResult:
        query = arguments.question
        question = replace(
            self.question,
            query=query,
            keywords=Keywords((query,), (query,)),
            chunk_top_k=min(MOST_PASSAGES, self.question.chunk_top_k),
            history=(),
        )
        deps = replace(self.deps, on_progress=ignore_progress)
        result = await retrieve(question, self.partitions, deps)
        passages = self._fitting([passage for _, passage in result.passages], max_tokens)
        tokens_left = max_tokens - sum(map(self._tokens, passages))
        count = self.deps.count_tokens
        relations = fit_budget(
            result.relations, tokens_left, lambda relation: count(relation_line(relation))
        )
        lines = [*map(passage_text, passages), *map(relation_line, relations)]
        retrieval = replace(
            _with_passages(result, passages), entities=(), relations=relations
        ).with_precedences(result.precedences)
        return ToolResult(_text(lines), retrieval)

    async def _look_up(
        self, arguments: FindText | ReadPassages | FindPaths, max_tokens: int, question: Question
    ) -> ToolResult:
        async with search_slot(self.partitions, self.deps) as deps:
            view = await self._view(question, deps)
            if isinstance(arguments, FindText):
                return await self._find_text(arguments, max_tokens, view, deps)
            if isinstance(arguments, ReadPassages):
                return await self._read_passages(arguments, max_tokens, view, deps)
            return await self._find_paths(arguments, max_tokens, view)

    async def _view(self, question: Question, deps: QueryDependencies) -> _View:
        ids = await documents_in_scope(question, self.partitions, deps)
        documents: ReadDocuments = deps.documents
        graph: BrowsedGraph = deps.graph
        if ids is not None:
            documents = RestrictedDocuments(documents, ids)
            graph = RestrictedGraph(deps.graph, deps.provenance, ids, deps.restricted_items)
        stored_documents = StoredDocuments(documents, deps.passages, self.partitions.status)
        return _View(question, ids, stored_documents, graph)

    async def _find_text(
        self, arguments: FindText, max_tokens: int, view: _View, deps: QueryDependencies
    ) -> ToolResult:
        keywords = [Keyword.of(text) for text in arguments.keywords if text.split()]
        if not keywords:
            raise InvalidInput("a keyword has at least one character that is not blank")
        ids = view.ids
        if arguments.document:
            status = await document_named(view.stored_documents, arguments.document)
            ids = frozenset((status.id,))
        matches = await search_passages(
            view.stored_documents, keywords, ids, offset=0, limit=MOST_PASSAGES
        )
        names = await search_names(view.graph, self.partitions.graph, keywords, MAX_NAMES)
        whole_passages = self._fitting([match.passage for match in matches.matches], max_tokens)
        lines = [passage_text(passage) for passage in whole_passages]
        lines += [
            snippets_text(match.passage, match.snippets)
            for match in matches.matches[len(whole_passages) :]
        ]
        if matches.total > len(matches.matches):
            lines.append(f"{matches.total} passages have them: give rarer words, or a document")
        if names.names:
            lines.append(names_text([name for name, _ in names.names]))
        return ToolResult(_text(lines), await self._retrieval(whole_passages, view, deps))

    async def _read_passages(
        self, arguments: ReadPassages, max_tokens: int, view: _View, deps: QueryDependencies
    ) -> ToolResult:
        _, around = await passages_around(
            view.stored_documents,
            arguments.document_id,
            arguments.order,
            before=arguments.before,
            after=arguments.after,
        )
        # The passage itself first: its neighbours only as far as they fit.
        around.sort(key=lambda passage: abs(passage.order - arguments.order))
        passages = self._fitting(around, max_tokens) or around[:1]
        retrieval = await self._retrieval(passages, view, deps)
        passages.sort(key=lambda passage: passage.order)
        return ToolResult(_text(map(passage_text, passages)), retrieval)

    async def _find_paths(self, arguments: FindPaths, max_tokens: int, view: _View) -> ToolResult:
        graph = self.partitions.graph
        ends = [
            await existing_name(view.graph, graph, name)
            for name in (arguments.source, arguments.target)
        ]
        if ends[0] == ends[1]:
            raise InvalidInput(f"source and target are the same entity, {ends[0]!r}: name two")
        paths = await shortest_paths(
            view.graph, graph, *ends, max_length=MAX_PATH_LENGTH, limit=MAX_PATHS
        )
        entities = {entity.name: entity for path in paths.paths for entity in path.entities}
        relations = {relation.key: relation for path in paths.paths for relation in path.relations}
        count = self.deps.count_tokens
        # The relations say how things hang together; of the entities what still fits.
        shown_relations = fit_budget(
            list(relations.values()), max_tokens, lambda relation: count(relation_line(relation))
        )
        tokens_left = max_tokens - sum(count(relation_line(item)) for item in shown_relations)
        shown_entities = fit_budget(
            list(entities.values()), tokens_left, lambda entity: count(entity_line(entity))
        )
        lines = [*map(relation_line, shown_relations), *map(entity_line, shown_entities)]
        retrieval = RetrievalResult(entities=shown_entities, relations=shown_relations)
        return ToolResult(_text(lines), retrieval)

    async def _retrieval(
        self, passages: Sequence[Passage], view: _View, deps: QueryDependencies
    ) -> RetrievalResult:
        """Return passages that were read as an answer may rest on them."""
        in_force = await in_force_first(view.question, passages, self.partitions, deps)
        result = RetrievalResult(standings=in_force.standings)
        return _with_passages(result, in_force.passages).with_precedences(in_force.precedences)

    def _fitting(self, passages: Sequence[Passage], max_tokens: int) -> list[Passage]:
        return fit_budget(passages, max_tokens, self._tokens)

    def _tokens(self, passage: Passage) -> int:
        return self.deps.count_tokens(passage_text(passage))


def _arguments(call: ToolCall) -> Arguments:
    """Return the arguments of a call. Raises InvalidInput, with what is wrong."""
    kind = ARGUMENTS.get(call.name)
    if kind is None:
        raise InvalidInput(f"there is no tool {call.name[:100]!r}, only {', '.join(ARGUMENTS)}")
    try:
        return kind.model_validate(call.arguments)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise InvalidInput(f"{call.name} takes other arguments: {'; '.join(faults)}") from None


def _with_passages(result: RetrievalResult, passages: Sequence[Passage]) -> RetrievalResult:
    return replace(result, passages=[("", passage) for passage in passages])


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) or NOTHING

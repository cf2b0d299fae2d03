"""Questions over stores in memory, in every mode."""

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest

from offline.answers.extractive_answer import NO_MODEL, NO_MODEL_READ, NOT_SAID
from runtime.errors import ModelRefused, TextFailure, Unavailable
from runtime.models.scripted import ScriptedChat
from services.query.adapters.models import (
    NO_KEYWORDS_BY_MODEL,
    ModelAnswerGenerator,
    ModelKeywordExtractor,
)
from services.query.answering.ask import NO_CONTEXT, ask
from services.query.partitions import Partitions
from services.query.question import Keywords, Mode, Question, Turn
from services.query.retrieval.retrieve import retrieve
from tests.support.querying import LIVE, QueryHarness, library_of_two

MODES: tuple[Mode, ...] = ("naive", "local", "global", "hybrid", "mix")
W = Partitions.of("w", LIVE)
QUESTION = "Who discovered radium?"


async def found(harness: QueryHarness, question: Question, **changes: Any) -> Any:
    return await retrieve(question, W, harness.deps(**changes))


def test_every_mode_is_tried() -> None:
    assert set(MODES) <= set(get_args(Mode))


@pytest.mark.parametrize("mode", MODES)
async def test_the_passage_that_answers_is_found_first(mode: Mode) -> None:
    result = await found(await library_of_two(), Question(QUESTION, mode))
    reference, passage = result.passages[0]
    assert passage.content.startswith("Marie Curie discovered radium")
    assert (reference, result.references) == ("1", result.references)
    assert result.references["curie.txt"] == "1"


@pytest.mark.parametrize(
    ("mode", "graph"),
    [("naive", False), ("local", True), ("global", True), ("hybrid", True), ("mix", True)],
)
async def test_only_naive_leaves_the_graph_out(mode: Mode, graph: bool) -> None:
    result = await found(await library_of_two(), Question(QUESTION, mode))
    assert bool(result.entities) == bool(result.relations) == graph
    if graph:
        assert {"Marie Curie", "Radium"} <= {entity.name for entity in result.entities}
        assert ("Marie Curie", "Radium") in {relation.key for relation in result.relations}


@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_without_a_model_quotes_and_says_so(mode: Mode) -> None:
    harness = await library_of_two()
    answer = await ask(Question(QUESTION, mode), W, harness.deps())
    assert "Marie Curie discovered radium" in answer.text
    assert answer.text.endswith(NO_MODEL)
    assert answer.by_model is False


async def test_an_answer_of_a_model_rests_on_the_context() -> None:
    harness = await library_of_two()
    chat = ScriptedChat(["Marie Curie [1]."])
    answer = await ask(
        Question(QUESTION), W, harness.deps(answer_generator=ModelAnswerGenerator(chat))
    )
    assert (answer.text, answer.by_model) == ("Marie Curie [1].", True)
    system, user = chat.calls[0].messages
    assert "Knowledge Graph Data (Entity):" in system.content
    assert "Marie Curie discovered radium" in system.content
    assert user.content == QUESTION


async def test_a_context_is_given_when_only_that_is_asked_for() -> None:
    harness = await library_of_two()
    answer = await ask(Question(QUESTION), W, harness.deps(), output="context")
    assert answer.text.startswith("Knowledge Graph Data (Entity):")
    assert answer.by_model is False


@pytest.mark.parametrize("mode", MODES)
async def test_where_nothing_is_found_it_is_said_with_the_mark_that_clients_look_for(
    mode: Mode,
) -> None:
    chat = ScriptedChat([])
    answer = await ask(
        Question(QUESTION, mode),
        W,
        QueryHarness().deps(answer_generator=ModelAnswerGenerator(chat)),
    )
    assert answer.text == NO_CONTEXT
    assert answer.text.endswith("[no-context]")
    assert chat.calls == []


async def test_workspaces_see_only_their_own() -> None:
    harness = await library_of_two()
    await harness.index("other", "Otto discovered bakelite.", workspace="other")
    answer = await ask(Question(QUESTION), Partitions.of("other", LIVE), harness.deps())
    assert {passage.document_id for _, passage in answer.retrieval.passages} == {"other"}


async def test_keywords_of_the_model_lead_the_search_and_given_ones_cost_no_call() -> None:
    harness = await library_of_two()
    chat = ScriptedChat(
        [json.dumps({"high_level_keywords": ["trade"], "low_level_keywords": ["Baker"]})]
    )
    keywords = ModelKeywordExtractor(chat, "English")
    result = await found(harness, Question(QUESTION, "local"), keyword_extractor=keywords)
    assert result.entities[0].name == "Baker"
    await found(
        harness,
        Question(QUESTION, "local", keywords=Keywords(low=("Radium",))),
        keyword_extractor=keywords,
    )
    await found(harness, Question(QUESTION, "naive"), keyword_extractor=keywords)
    assert len(chat.calls) == 1


@pytest.mark.parametrize(
    "answer", ["no JSON", "{}", '{"high_level_keywords": 5}', "[]", "<think>{}</think>"]
)
async def test_keywords_that_cannot_be_read_are_replaced_by_the_words_of_the_question(
    answer: str,
) -> None:
    harness = await library_of_two()
    result = await found(
        harness,
        Question(QUESTION, "local"),
        keyword_extractor=ModelKeywordExtractor(ScriptedChat([answer]), "English"),
    )
    assert "Radium" in {entity.name for entity in result.entities}


async def test_an_answer_that_finds_nothing_says_that_the_model_gave_no_keywords() -> None:
    refuses = ScriptedChat([ModelRefused("no", "request"), TextFailure("fails for this text")])
    keywords = ModelKeywordExtractor(refuses, "English")
    for _ in range(2):
        deps = (await library_of_two()).deps(keyword_extractor=keywords, min_score=0.99)
        answer = await ask(Question("Wer leitet denn den Hafen?", "local"), W, deps)
        assert NO_KEYWORDS_BY_MODEL in answer.text
        assert answer.text.endswith("[no-context]")
        assert answer.retrieval.info["keywords_note"] == NO_KEYWORDS_BY_MODEL


async def test_the_question_is_embedded_in_one_call() -> None:
    harness = await library_of_two()
    before = harness.embedder.calls
    await found(harness, Question(QUESTION))
    assert harness.embedder.calls == before + 1


async def test_limits_hold() -> None:
    harness = await library_of_two()
    result = await found(harness, Question(QUESTION, "mix", top_k=1, chunk_top_k=1))
    assert len(result.passages) == 1
    result = await found(
        harness, Question(QUESTION, "mix", max_entity_tokens=1, max_relation_tokens=1)
    )
    assert (result.entities, result.relations) == ([], [])
    result = await found(harness, Question(QUESTION, "mix", max_total_tokens=1))
    assert result.passages == []


async def test_the_whole_context_stays_within_its_budget() -> None:
    harness = QueryHarness()
    await harness.index("long", *(f"Radium in passage {n}. " + "word " * 200 for n in range(30)))
    deps = harness.deps()
    answer = await ask(Question(QUESTION, max_total_tokens=4000), W, deps, output="context")
    assert 1000 < deps.count_tokens(answer.text) < 4000


async def test_a_passage_that_was_deleted_meanwhile_is_left_out() -> None:
    harness = await library_of_two()

    class Gone:
        async def get(self, *_: Any) -> dict[str, Any]:
            return {}

    result = await found(harness, Question(QUESTION, "mix"), passages=Gone())
    assert result.passages == []
    assert result.entities


async def test_a_store_that_is_down_is_an_error_and_never_an_empty_answer() -> None:
    harness = await library_of_two()

    async def down(*_: Any, **__: Any) -> Any:
        raise Unavailable("the graph does not answer")

    harness.graph.entities = down  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await ask(Question(QUESTION), W, harness.deps())


@pytest.mark.parametrize(
    ("mode", "keywords_of"),
    [
        ("local", lambda q: Keywords(low=(q,))),
        ("mix", lambda q: Keywords(low=(q,))),
        ("global", lambda q: Keywords((q,))),
    ],
)
async def test_a_question_without_keywords_is_searched_by_itself_however_long_it_is(
    mode: Mode, keywords_of: Callable[[str], Keywords]
) -> None:
    harness = await library_of_two()
    keywords = ModelKeywordExtractor(ScriptedChat(["{}"]), "English")
    answers = ModelAnswerGenerator(ScriptedChat(["Yes."]))
    question = Question("Radium?".ljust(80, "!"), mode)
    answer = await ask(
        question, W, harness.deps(keyword_extractor=keywords, answer_generator=answers)
    )
    assert answer.text == "Yes."
    assert answer.retrieval.keywords == keywords_of(question.query)


async def test_history_and_instructions_reach_the_model_and_nothing_else() -> None:
    harness = await library_of_two()
    chat = ScriptedChat(["Yes.", "Yes."])
    history = (Turn("user", "Who sells bread?"), Turn("assistant", "The baker."))
    without_history = await ask(
        Question(QUESTION, "naive"), W, harness.deps(answer_generator=ModelAnswerGenerator(chat))
    )
    question = Question(
        QUESTION, "naive", history=history, user_prompt="Rhyme.", response_type="Bullet Points"
    )
    answer = await ask(question, W, harness.deps(answer_generator=ModelAnswerGenerator(chat)))
    assert answer.retrieval == without_history.retrieval
    system, *turns, last_message = chat.calls[1].messages
    assert [(message.role, message.content) for message in turns] == [
        (turn.role, turn.content) for turn in history
    ]
    assert (last_message.role, last_message.content) == ("user", QUESTION)
    assert "Additional instructions: \n\nRhyme.\n" in system.content
    assert "in this form: Bullet Points." in system.content
    assert "Additional instructions: n/a\n" in chat.calls[0].messages[0].content


@pytest.mark.parametrize("mode", MODES)
async def test_the_prompt_speaks_of_a_graph_only_where_there_is_one(mode: Mode) -> None:
    harness = await library_of_two()
    answer = await ask(Question(QUESTION, mode), W, harness.deps(), output="prompt")
    assert ("its graph" in answer.text) == (mode != "naive")
    assert answer.text.endswith(f"```\n\n---User Query---\n{QUESTION}")


async def test_a_quotation_keeps_its_brackets() -> None:
    harness = QueryHarness()
    await harness.index("code", "Radium is stored in the array cell [9] of the table of elements.")
    answer = await ask(Question("Where is radium stored?", "naive"), W, harness.deps())
    assert "cell [9] of" in answer.text


async def test_quotations_come_in_the_order_of_relevance_with_their_references() -> None:
    harness = QueryHarness()
    await harness.index(
        "a", "The village has an old well. Bread is sold on market days in the village square."
    )
    await harness.index(
        "b", "Radium was discovered by Marie Curie in Paris. Paris has many bridges.", version=1000
    )
    await harness.index("c", "Polonium was discovered by Marie Curie in 1898.", version=2000)
    answer = await ask(Question(QUESTION, "naive"), W, harness.deps(min_score=-1.0))
    first, *_, notice = answer.text.split("\n\n")
    assert first.startswith("Radium was discovered by Marie Curie in Paris.")
    assert first.endswith(f"[{answer.retrieval.references['b.txt']}]")
    assert notice == NO_MODEL


async def test_only_cited_sources_are_listed_below_quotations_and_all_passages_stay_visible() -> (
    None
):
    harness = QueryHarness()
    await harness.index(
        "a", "The village has an old well. Bread is sold on market days in the village square."
    )
    await harness.index(
        "b", "Radium was discovered by Marie Curie in Paris. Paris has many bridges.", version=1000
    )
    answer = await ask(Question(QUESTION, "naive"), W, harness.deps(min_score=-1.0))
    assert [*answer.retrieval.references] == ["b.txt"]
    assert {passage.file_path for _, passage in answer.retrieval.passages} == {"a.txt", "b.txt"}


@pytest.mark.parametrize(
    "query", ["Who invented the telephone?", "What is the capital of Mongolia?"]
)
async def test_what_the_documents_do_not_say_is_not_answered_and_has_no_sources(query: str) -> None:
    harness = await library_of_two()
    answer = await ask(Question(query, "naive"), W, harness.deps(min_score=-1.0))
    assert answer.text == f"{NOT_SAID}\n\n{NO_MODEL_READ}"
    assert answer.retrieval.references == {}
    assert answer.retrieval.passages
    assert "[no-context]" not in answer.text


async def test_a_question_about_the_documents_as_a_whole_is_illustrated() -> None:
    harness = await library_of_two()
    answer = await ask(
        Question("What are these documents about?", "naive"), W, harness.deps(min_score=-1.0)
    )
    assert answer.text.endswith(NO_MODEL)
    assert answer.retrieval.references


async def test_the_prompt_asks_to_name_contradictions_and_to_keep_to_the_passages() -> None:
    harness = await library_of_two()
    for mode in ("naive", "mix"):
        prompt = (await ask(Question(QUESTION, mode), W, harness.deps(), output="prompt")).text
        assert "Where they contradict each other, do not choose: say that they do" in prompt
        assert "Use only what stands there, nothing" in prompt


async def test_where_nothing_can_be_quoted_that_is_said() -> None:
    harness = QueryHarness()
    await harness.index("code", "```\nradium = 88\n```")
    answer = await ask(Question(QUESTION, "naive"), W, harness.deps(min_score=-1.0))
    assert answer.text == f"{NOT_SAID}\n\n{NO_MODEL_READ}"

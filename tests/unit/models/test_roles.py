"""Which language model serves which role, with which key, and what is counted together."""

import pytest

from operations.doctor.machine import language_models
from runtime.bus.memory import MemorySharedValues
from runtime.errors import ConfigurationError
from runtime.models.limits import Limits
from runtime.models.open import open_chat
from runtime.models.port import Message
from runtime.models.rate_limiters import RateLimiters
from runtime.models.roles import ROLES, VISION, RoleSettings, language_model
from services.extractor.settings import ExtractorSettings
from services.query.settings import QuerySettings
from services.query.wiring import open_chats
from tests.support.openai_provider import KEY, serving

GENERAL = {
    "LLM_BASE_URL": "https://general.example/v1",
    "LLM_MODEL": "large",
    "LLM_API_KEY": "general-secret",
}


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)


def given(monkeypatch: pytest.MonkeyPatch, **variables: str) -> RoleSettings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return RoleSettings()


def test_without_settings_of_its_own_every_role_has_the_general_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = given(monkeypatch, **GENERAL)
    general = language_model(settings)
    assert general and general.model == "large"
    assert [language_model(settings, role) for role in ROLES] == [general] * 4 + [None]
    assert [language_model(RoleSettings.model_construct(), role) for role in ROLES] == [None] * 5


def test_figures_are_described_only_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = given(monkeypatch, **GENERAL, VLM_PROCESS_ENABLE="true")
    vision_model = language_model(settings, VISION)
    assert vision_model == language_model(settings)
    settings = given(monkeypatch, VLM_PROCESS_ENABLE="", VLM_MODEL="eyes")
    vision_model = language_model(settings, VISION)
    assert vision_model and vision_model.model == "eyes"
    assert (vision_model.base_url, vision_model.settings) == (GENERAL["LLM_BASE_URL"], "VLM_LLM")
    settings = given(monkeypatch, VLM_BINDING="ollama", VLM_BINDING_HOST="http://127.0.0.1:1")
    vision_model = language_model(settings, VISION)
    assert vision_model and vision_model.api_key.get_secret_value() == ""
    silent_settings = given(monkeypatch, VLM_PROCESS_ENABLE="false")
    assert language_model(silent_settings, VISION) is None
    assert not any("VLM" in text for text in silent_settings.contradictions)


def test_light_rags_names_set_model_endpoint_key_and_limits_of_a_role(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = given(
        monkeypatch,
        **GENERAL,
        KEYWORD_LLM_MODEL="small",
        KEYWORD_LLM_BINDING_HOST="https://fast.example/v1",
        KEYWORD_LLM_BINDING_API_KEY="keyword-secret",
        KEYWORD_MAX_ASYNC_LLM="9",
        KEYWORD_LLM_TIMEOUT="7",
    )
    result = language_model(settings, "keyword")
    assert result and (result.base_url, result.model, result.timeout) == (
        "https://fast.example/v1",
        "small",
        7.0,
    )
    assert (result.api_key.get_secret_value(), result.limits.calls) == ("keyword-secret", 9)
    assert (result.settings, result.counted_as) == ("KEYWORD_LLM", "language model of role keyword")
    assert language_model(settings, "query") == language_model(settings)
    assert "secret" not in repr(settings) + repr(result)


def test_the_general_key_goes_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = given(
        monkeypatch,
        **GENERAL,
        QUERY_LLM_BASE_URL="http://127.0.0.1:1/v1",
        EXTRACT_LLM_BASE_URL="https://general.example/v2",
    )
    elsewhere = language_model(settings, "query")
    same_server = language_model(settings, "extract")
    assert elsewhere and elsewhere.api_key.get_secret_value() == ""
    assert same_server and same_server.api_key.get_secret_value() == "general-secret"


def test_summaries_are_of_the_extracting_model_unless_they_have_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = given(monkeypatch, **GENERAL, EXTRACT_LLM_MODEL="cheap")
    assert language_model(settings, "summary") == language_model(settings, "extract")
    settings = given(monkeypatch, SUMMARY_LLM_MODEL="careful")
    result = language_model(settings, "summary")
    assert result and (result.model, result.settings) == ("careful", "SUMMARY_LLM")


def test_a_role_alone_leaves_the_others_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = given(monkeypatch, EXTRACT_LLM_BASE_URL="http://127.0.0.1:1/v1", QUERY_LLM_MODEL="m")
    assert [language_model(settings, role) is not None for role in ROLES] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert any("QUERY_LLM_" in text for text in settings.contradictions)
    assert not any("EXTRACT_LLM_" in text for text in settings.contradictions)


def test_limits_of_its_own_are_counted_apart_and_a_timeout_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits_of_kinds: list[tuple[str, Limits]] = []
    limiter = RateLimiters.limiter

    def made(
        self: RateLimiters, kind: str, name: str, key: str, limits: Limits, max_wait: float
    ) -> object:
        limits_of_kinds.append((kind, limits))
        return limiter(self, kind, name, key, limits, max_wait)

    monkeypatch.setattr(RateLimiters, "limiter", made)
    settings = given(
        monkeypatch,
        **GENERAL,
        EXTRACT_LLM_MAX_REQUESTS_PER_MINUTE="5",
        SUMMARY_LLM_MAX_ASYNC="0",
        QUERY_LLM_TIMEOUT="3",
    )
    for role in ("extract", "summary", "query"):
        assert open_chat(settings, RateLimiters(MemorySharedValues()), role=role) is not None
    assert limits_of_kinds == [
        ("language model of role extract", Limits(requests=5, calls=4)),
        ("language model of role summary", Limits(requests=5, calls=0)),
        ("language model", Limits(calls=4)),
    ]


def test_the_extractor_works_at_as_many_events_as_its_own_model_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(monkeypatch, **GENERAL, EXTRACT_LLM_MAX_ASYNC="16")
    assert ExtractorSettings().workers == 32


async def test_answers_and_keywords_share_a_model_unless_set_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(monkeypatch, **GENERAL)
    answers, keywords = open_chats(QuerySettings(), RateLimiters())
    assert answers is not None and answers is keywords
    monkeypatch.setenv("QUERY_LLM_MODEL", "careful")
    answers, keywords = open_chats(QuerySettings(), RateLimiters())
    assert answers and keywords and (answers.model, keywords.model) == ("careful", "large")


async def test_requests_of_a_role_have_its_model_and_key_and_errors_name_its_settings() -> None:
    async with serving() as provider:
        role_settings = {
            "query_llm_base_url": provider.url,
            "query_llm_model": "good",
            "query_llm_api_key": KEY,
        }
        settings = RoleSettings.model_validate(
            {"llm_base_url": "http://127.0.0.1:1/v1", "llm_api_key": "x", **role_settings}
        )
        chat = open_chat(settings, role="query")
        assert chat
        assert (await chat.complete([Message("user", "what?")])).text == "the answer"
        await chat.close()
        assert provider.keys == {f"Bearer {KEY}"}


def test_the_doctor_says_which_model_serves_which_role() -> None:
    models = {"language": "large", "embedding": "minilm", "extract": "cheap", "keyword": ""}
    models["vlm"] = "sharp"
    assert [finding.what for finding in language_models(models, "the running stack")] == [
        "the running stack uses the language model large",
        "cheap reads documents (role extract)",
        "no language model reads questions (role keyword)",
        "sharp describes figures (role vlm)",
    ]


def test_further_fields_are_those_of_the_role_before_the_general_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://models.example/v1")
    monkeypatch.setenv(
        "OPENAI_LLM_EXTRA_BODY",
        '{"chat_template_kwargs": {"enable_thinking": false}, "top_p": 0.9}',
    )
    monkeypatch.setenv("OPENAI_LLM_TEMPERATURE", "0.5")
    monkeypatch.setenv("OPENAI_LLM_MAX_TOKENS", "9000")
    monkeypatch.setenv("OPENAI_LLM_REASONING_EFFORT", "low")
    monkeypatch.setenv("EXTRACT_LLM_EXTRA_BODY", '{"temperature": 0, "reasoning_effort": null}')
    monkeypatch.setenv("KEYWORD_LLM_BASE_URL", "http://elsewhere.example/v1")
    settings = RoleSettings()
    general = {"chat_template_kwargs": {"enable_thinking": False}, "top_p": 0.9, "temperature": 0.5}
    general |= {"max_tokens": 9000, "reasoning_effort": "low"}
    fields = {role: model.fields for role in ROLES if (model := language_model(settings, role))}
    assert fields["query"] == general
    extraction = {**general, "temperature": 0}
    del extraction["reasoning_effort"]
    assert fields["extract"] == fields["summary"] == extraction
    assert fields["keyword"] == {}, "another server may know none of them"
    query, extract = (language_model(settings, role) for role in ("query", "extract"))
    assert query
    assert extract
    assert query.counted_as == extract.counted_as, "fields alone share the limits"


@pytest.mark.parametrize(
    "text", ["no JSON", "[1]", '{"messages": []}', '{"model": "x"}', '{"stream": true}']
)
@pytest.mark.parametrize("name", ["LLM_EXTRA_BODY", "QUERY_LLM_EXTRA_BODY"])
def test_fields_that_cannot_be_sent_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(ConfigurationError, match=f"^{name}: "):
        RoleSettings()

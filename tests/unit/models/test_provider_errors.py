"""The provider's own sentence is read, whatever shape it has, and what looks like a key is not
shown.
"""

from typing import Any

import pytest

from runtime.models.provider_errors import (
    LONGEST_SENTENCE,
    error_in,
    error_of,
    parsed_body,
    sentence_of,
    shown,
    shown_to_askers,
)

SENTENCE = "this model reads 512 tokens"
FASTAPI = [{"type": "missing", "loc": ["body", "input", 0], "msg": "Field required"}]
GATEWAY = {"message": "Provider returned error", "metadata": {"raw": f'{{"error": "{SENTENCE}"}}'}}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"error": {"message": SENTENCE, "code": 400}}, SENTENCE),
        ({"error": SENTENCE}, SENTENCE),
        ({"error": SENTENCE, "error_type": "Validation"}, SENTENCE),
        ({"detail": SENTENCE}, SENTENCE),
        ({"detail": FASTAPI}, "input.0: Field required"),
        ({"detail": {"error": {"message": SENTENCE}}}, SENTENCE),
        ({"object": "error", "message": SENTENCE, "param": None, "code": 400}, SENTENCE),
        ({"errors": [{"message": "first"}, {"message": "second"}]}, "first; second"),
        ({"errors": ["first"]}, "first"),
        ({"type": "about:blank", "title": "Bad Request", "detail": SENTENCE}, SENTENCE),
        ({"type": "about:blank", "title": "Bad Request"}, "Bad Request"),
        ([{"error": {"code": 400, "message": SENTENCE, "status": "INVALID_ARGUMENT"}}], SENTENCE),
        (
            {"statusCode": 400, "error": "Bad Request", "message": SENTENCE},
            f"Bad Request; {SENTENCE}",
        ),
        ({"error": GATEWAY}, f"Provider returned error; {SENTENCE}"),
        ({"error": f'{{"message": "{SENTENCE}"}}'}, SENTENCE),
        ({"Message": SENTENCE}, SENTENCE),
        ({"fault": {"faultstring": SENTENCE}}, SENTENCE),
        ({"error": {"innererror": {"message": SENTENCE}}}, SENTENCE),
        (SENTENCE, SENTENCE),
        (f"<html><head><title>x</title></head><body><h1>{SENTENCE}</h1></body></html>", SENTENCE),
        ("<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway"),
        ({"message": "two\nlines  here"}, "two lines here"),
        ({}, ""),
        ([], ""),
        (None, ""),
        ({"error": True}, ""),
        ({"error": {"message": None}, "detail": SENTENCE}, SENTENCE),
    ],
)
def test_the_sentence_of_every_shape_is_read(body: Any, sentence: str) -> None:
    assert sentence_of(body) == sentence


def test_a_status_without_a_sentence_is_named_in_words() -> None:
    assert error_of(422, {}).sentence == "Unprocessable Entity, without a reason"
    assert error_of(599, "").sentence == "it gives no reason"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"message": "no", "code": 400}}, 400),
        ({"error": {"message": "no", "code": "429"}}, 429),
        ({"error": "no", "status": 503}, 503),
        ({"error": {"message": "no", "code": "bad_thing"}}, 0),
        ({"error": "no", "code": 200}, 0),
        ([{"error": {"code": 404}}], 404),
    ],
)
def test_an_error_with_status_200_has_the_status_that_its_body_names(
    body: Any, status: int
) -> None:
    assert error_of(200, body).status == status


def test_codes_are_read_wherever_they_stand() -> None:
    google = [{"error": {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}]
    assert error_of(400, google).codes >= {"INVALID_ARGUMENT", "API_KEY_INVALID"}
    azure = {"error": {"code": "other", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}
    assert "ResponsibleAIPolicyViolation" in error_of(400, azure).codes


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"message": {"content": "error"}}]},
        {"data": [{"embedding": [1.0]}], "message": "fine"},
        {"choices": [], "usage": {}},
        {"error": None, "choices": []},
    ],
)
def test_an_answer_is_no_error(answer: dict[str, Any]) -> None:
    assert error_in(answer) is None


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefgh1234",
        "Incorrect API key provided: sk-abc***wxyz",
        "header Authorization: Bearer abc.def.ghi was refused",
        "GET https://generativelanguage.test/v1?key=AIzaSyabcdefghijk failed",
        "https://user:pass@host.test/v1 failed",
        "the key my-own-secret is wrong",
    ],
)
def test_nothing_that_looks_like_a_key_is_shown(text: str) -> None:
    sentence = shown(text, ["my-own-secret"])
    assert "***" in sentence
    for secret in ("proj-abc", "sk-abc", "abc.def", "AIzaSy", "pass@", "my-own"):
        assert secret not in sentence


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("see https://gateway.test:8080/policies?tenant=7 for the policy", "gateway"),
        ("worker vllm-3:8000 crashed on this prompt", "vllm-3"),
        ("upstream models.example.org:443 broke off", "example"),
        ("upstream models.default.svc broke off", "default"),
        ("connect to 10.1.2.3:8000 failed", "10.1"),
        ("connect to [fd00::1]:8000 failed", "fd00"),
        ("ask ada@example.org for access", "ada@"),
        ("the file /srv/models/rows-1.gguf has no template", "srv"),
        ("Request too large in organization `org_01abcdef`", "01abcdef"),
        ("localhost refused it", "localhost"),
    ],
)
def test_whoever_asked_is_shown_no_address(text: str, address: str) -> None:
    sentence = shown_to_askers(text)
    assert address not in sentence
    assert "…" in sentence


@pytest.mark.parametrize(
    "text",
    [
        "Your chosen model requires moderation and your input was flagged for violence.",
        "Range of input length should be [1, 30720]",
        "rate of gpt-4.1-mini: 3.5 at 10:30, error code:400 and/or 401",
    ],
)
def test_whoever_asked_is_shown_the_rest_as_it_stands(text: str) -> None:
    assert shown_to_askers(text) == text


def test_a_long_sentence_is_bounded() -> None:
    assert len(shown("word " * 1000)) <= LONGEST_SENTENCE
    assert len(shown_to_askers("a.b" * 100_000)) <= LONGEST_SENTENCE
    assert len(sentence_of(parsed_body("[" * 100_000))) == 100_000

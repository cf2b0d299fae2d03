"""`lightstream config`: every setting is shown with its source and meaning, no secret is, and
mistakes are named.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from operations.configuration import SETTINGS

SECRET = "hunter22-hunter22"
SECRETS = {
    "LIGHTRAG_API_KEY": SECRET,
    "LIGHTSTREAM_API_KEYS": f"a:{SECRET}x:w:read",
    "AUTH_ACCOUNTS": f"ada:{SECRET}",
    "TOKEN_SECRET": SECRET * 3,
    "LLM_API_KEY": SECRET,
    "EMBEDDING_API_KEY": SECRET,
    "NEO4J_PASSWORD": SECRET,
    "MILVUS_TOKEN": f"root:{SECRET}",
    "NATS_URL": f"nats://user:{SECRET}@bus:4222",
    "MONGO_URI": f"mongodb://user:{SECRET}@store:27017/?authSource={SECRET}",
    "LLM_BASE_URL": f"https://user:{SECRET}@models/v1?key={SECRET}",
}


def config(folder: Path, *arguments: str, **env: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        app, ["config", *arguments], env={"NATS_URL": "", **env, "PWD": str(folder)}
    )
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def shown(folder: Path, *arguments: str, **env: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(config(folder, "--json", *arguments, **env)[1])
    return result


def one(result: dict[str, Any], name: str) -> tuple[str, str]:
    """Value and source of the first setting with that variable."""
    return next((s["value"], s["source"]) for s in result["settings"] if name in s["names"])


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_setting_is_there_with_a_meaning(tmp_path: Path) -> None:
    result = shown(tmp_path)
    assert len(result["settings"]) == sum(
        len(group.__annotations__) - ("model_config" in group.__annotations__)
        for group in SETTINGS.values()
    )
    assert [setting["names"] for setting in result["settings"] if not setting["meaning"]] == []
    assert (result["faults"], result["contradictions"], result["unread"]) == ([], [], {})


def test_a_value_comes_from_a_variable_of_either_name_from_the_stack_or_is_the_default(
    tmp_path: Path,
) -> None:
    result = shown(tmp_path, OPENAI_API_KEY="", MAX_ASYNC="7", TOP_K="9", CHUNK_SIZE="")
    assert one(result, "LLM_MAX_ASYNC") == ("7", "MAX_ASYNC")
    assert one(result, "TOP_K") == ("9", "TOP_K")
    assert one(result, "CHUNK_SIZE") == ("1200", "default")
    assert one(result, "HOST") == ("127.0.0.1", "default")
    assert one(result, "NATS_URL") == ("(none)", f"the stack in {tmp_path / '.lightstream'}")
    elsewhere = shown(tmp_path, NATS_URL="nats://bus:4222", HOST="127.0.0.2")
    assert one(
        shown(tmp_path, NATS_URL="nats://b", DOCUMENTS_URL="sqlite:///d/x.db"), "DOCUMENTS_URL"
    ) == (
        "sqlite:///d/x.db",
        "DOCUMENTS_URL",
    )
    assert one(elsewhere, "NATS_URL") == ("nats://bus:4222", "NATS_URL")
    assert one(elsewhere, "HOST") == ("127.0.0.2", "HOST")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_no_secret_is_shown(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, output = config(tmp_path, *arguments, **SECRETS)
    assert code == 0, output
    assert SECRET not in output
    assert "(set, not shown)" in output


def test_mistakes_keep_their_values_to_themselves(tmp_path: Path) -> None:
    env = {"LLM_TIMEOUT": SECRET, "AUTH_ACCOUNTS": f"ada:{SECRET}", "JWT_ALGORITHM": SECRET}
    code, output = config(tmp_path, "--json", **env)
    faults = json.loads(output)["faults"]
    assert code == 1
    assert [name for name in ("LLM_TIMEOUT", "JWT_ALGORITHM") if name not in str(faults)] == []
    assert SECRET not in str(faults)
    (overlap,) = shown(tmp_path, CHUNK_OVERLAP_SIZE="1200")["faults"]
    assert "CHUNK_OVERLAP_SIZE 1200 must be at most half of CHUNK_SIZE" in overlap
    code, output = config(tmp_path, AUTH_ACCOUNTS=f"ada:{SECRET}")
    assert (code, "nothing starts like this: AUTH_ACCOUNTS needs a TOKEN_SECRET" in output) == (
        1,
        True,
    )


@pytest.mark.parametrize("deployment", [{}, {"NATS_URL": "nats://bus:4222"}])
def test_an_api_that_would_be_open_to_others_is_a_fault(
    tmp_path: Path, deployment: dict[str, str]
) -> None:
    (fault,) = shown(tmp_path, HOST="0.0.0.0", **deployment)["faults"]
    assert "would let everybody in" in fault


ADDRESSES = (
    "LLM_BASE_URL",
    "EMBEDDING_BINDING_HOST",
    "OPENAI_BASE_URL",
    "EXTRACT_LLM_BASE_URL",
    "RERANK_BASE_URL",
    "QUESTIONS_URL",
    "DOCLING_ENDPOINT",
    "MINERU_LOCAL_ENDPOINT",
    "LIGHTSTREAM_API_URL",
)


def test_an_address_without_a_scheme_is_a_fault(tmp_path: Path) -> None:
    faults = shown(tmp_path, **dict.fromkeys(ADDRESSES, "localhost:8000/v1"))["faults"]
    form = "must be an address that begins with http:// or https://"
    assert {fault.removesuffix(f": {form}") for fault in faults} == set(ADDRESSES)


def test_contradictions_are_said(tmp_path: Path) -> None:
    lines = shown(
        tmp_path,
        LLM_MODEL="m",
        MAX_TOTAL_TOKENS="9",
        TOKEN_SECRET="t",
        CORS_ORIGINS="*",
        SUMMARY_LENGTH_RECOMMENDED="20000",
    )["contradictions"]
    for name in (
        "LLM_MODEL",
        "MAX_TOTAL_TOKENS",
        "TOKEN_SECRET",
        "CORS_ORIGINS",
        "SUMMARY_LENGTH_RECOMMENDED",
    ):
        assert [line for line in lines if name in line], name


def test_variables_that_nobody_reads_are_named_with_what_may_be_meant(tmp_path: Path) -> None:
    env = {
        "AZURE_OPENAI_ENDPOINT": "x",
        "EMBEDDING_TIMOUT": "1",
        "LIGHTRAG_KEY_OF_MINE": "x",
        "MAX_PARALLEL_PARSE": "1",
        "EDITOR": "vi",
        "LLM_MODELS": "",
    }
    unread = shown(tmp_path, **env)["unread"]
    assert {name: hint for name, hint in unread.items() if name in env} == {
        "AZURE_OPENAI_ENDPOINT": "LLM_BASE_URL",
        "EMBEDDING_TIMOUT": "EMBEDDING_TIMEOUT?",
        "LIGHTRAG_KEY_OF_MINE": "",
        "MAX_PARALLEL_PARSE": "",
    }
    assert "read by nobody: AZURE_OPENAI_ENDPOINT: here LLM_BASE_URL" in config(tmp_path, **env)[1]


def test_options_of_lightrags_bindings_are_named_with_what_takes_their_place(
    tmp_path: Path,
) -> None:
    env = {
        "OLLAMA_LLM_NUM_CTX": "32768",
        "QUERY_OLLAMA_LLM_NUM_CTX": "8192",
        "OPENAI_LLM_TOP_P": "0.9",
        "QUERY_OLLAMA_LLM_NUM_PREDICT": "900",
        "EXTRACT_OPENAI_LLM_TEMPERATURE": "0",
        "OPENAI_LLM_TEMPERATURE": "0",
    }
    unread = shown(tmp_path, **env)["unread"]
    assert {name: hint for name, hint in unread.items() if name in env} == {
        "QUERY_OLLAMA_LLM_NUM_CTX": 'QUERY_LLM_EXTRA_BODY, as {"options": {"num_ctx": …}}',
        "OPENAI_LLM_TOP_P": 'LLM_EXTRA_BODY, as {"top_p": …}',
        "QUERY_OLLAMA_LLM_NUM_PREDICT": 'QUERY_LLM_EXTRA_BODY, as {"max_tokens": …}',
        "EXTRACT_OPENAI_LLM_TEMPERATURE": 'EXTRACT_LLM_EXTRA_BODY, as {"temperature": …}',
    }


def test_a_value_cannot_write_over_the_screen(tmp_path: Path) -> None:
    code, output = config(tmp_path, WEBUI_TITLE="a\x1b[2Jb")
    assert (code, "\x1b[2J" in output, "a\\x1b[2Jb" in output) == (0, False, True)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL: must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
        ({"NATS_URL": "http://bus"}, "NATS_URL: must be nats://user:password@host:4222"),
        ({"STORES_URL": "mysql://db"}, "STORES_URL: must begin with postgresql:// or postgres://"),
        ({"MONGO_URI": "redis://db"}, "MONGO_URI: must begin with mongodb://, mongodb+srv://"),
        ({"NEO4J_URI": "http://graph"}, "NEO4J_URI: must begin with bolt://"),
        ({"MILVUS_URI": "milvus.db"}, "MILVUS_URI: must begin with http://"),
        ({"WORKSPACE": "a/b"}, "WORKSPACE: must be letters, digits"),
        ({"WEBHOOK_ALLOWED_NETWORKS": "here"}, "WEBHOOK_ALLOWED_NETWORKS: 'here' does not"),
        ({"MODEL_ALLOWED_NETWORKS": "here"}, "MODEL_ALLOWED_NETWORKS: 'here' does not"),
        ({"AUTH_ACCOUNTS": f"ada:{SECRET}"}, "AUTH_ACCOUNTS needs a TOKEN_SECRET"),
        ({"HOST": "0.0.0.0"}, "HOST=0.0.0.0 would let everybody in"),
        ({"ENTITY_TYPE_PROMPT_FILE": "/no.yml"}, "ENTITY_TYPE_PROMPT_FILE: /no.yml cannot be read"),
        ({"USER_PROMPT_PREFIX_FILE": "/no.txt"}, "USER_PROMPT_PREFIX_FILE cannot be read"),
        ({"LIGHTRAG_PARSER": "pdf:docling"}, "LIGHTRAG_PARSER has docling read 'pdf'"),
        ({"EMBEDDING_MODEL": "x", "EMBEDDING_BASE_URL": "http://x"}, "set EMBEDDING_DIM"),
        ({"CHUNK_SIZE": "9", "CHUNK_OVERLAP_SIZE": "8"}, "CHUNK_OVERLAP_SIZE 8 must be at most"),
    ],
)
def test_what_no_service_can_start_with_is_told_in_one_sentence(
    tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    (fault,) = shown(tmp_path, **variables)["faults"]
    assert fault.startswith(sentence)
    assert SECRET not in fault


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    variables = {"LLM_MAX_ASYNC": "x", "CHUNK_SIZE": "x", "TOP_K": "x", "RECEIPTS": "x"}
    faults = shown(tmp_path, **variables)["faults"]
    assert {fault.partition(":")[0] for fault in faults} >= {*variables}

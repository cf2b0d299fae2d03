"""Settings that cannot be used end a start with one line: the variable, and what it must be."""

from pathlib import Path

import pytest

from tests.support.stack import Stack


@pytest.mark.parametrize(
    ("variable", "reason"),
    [
        ("EMBEDDING_DIM", "EMBEDDING_DIM: must be a valid integer, unable to parse string"),
        ("MAX_ASYNC", "MAX_ASYNC: must be a valid integer, unable to parse string"),
        ("MODEL_PRICES", "MODEL_PRICES: "),
    ],
)
def test_a_variable_that_every_service_reads_is_named_before_anything_starts(
    tmp_path: Path, variable: str, reason: str
) -> None:
    stack = Stack(tmp_path / "data", {variable: "hunter2"})
    process = stack.run("up", "--detach")
    assert process.returncode == 1
    assert process.stderr.startswith(f"error: {reason}")
    assert len(process.stderr.splitlines()) == 1
    assert "hunter2" not in process.stderr, "a value may be a secret"


def test_all_settings_of_all_services_are_told_at_once_before_anything_starts(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    variables = {
        "CHUNK_SIZE": "-5",
        "LLM_BINDING": "parrot",
        "RERANK_BINDING_HOST": "ftp://hunter2",
        "LIGHTRAG_PARSER": "pdf:scribe",
        "ENTITY_TYPE_PROMPT_FILE": "/nowhere.yml",
        "AUTH_ACCOUNTS": "ada:hunter2",
    }
    process = Stack(folder, variables).run("up", "--detach")
    assert process.returncode == 1
    lines = process.stderr.removeprefix("error: ").splitlines()
    assert "CHUNK_SIZE: must be greater than or equal to 1" in lines
    assert any(line.startswith("LLM_BINDING: must be one of openai, ") for line in lines)
    assert any(line.startswith("RERANK_BINDING_HOST: must be an address") for line in lines)
    assert "LIGHTRAG_PARSER: 'scribe' is no reader: native, docling, mineru, plugin" in lines
    assert any(line.startswith("ENTITY_TYPE_PROMPT_FILE: /nowhere.yml cannot") for line in lines)
    assert "AUTH_ACCOUNTS needs a TOKEN_SECRET of at least 32 characters" in lines
    assert len(lines) == len(variables)
    assert "hunter2" not in process.stderr, "a value may be a secret"
    assert {path.name for path in folder.iterdir() if path.is_dir()} == set(), "nothing started"
    later = Stack(folder, {"EMBEDDING_DIM": "wide"})
    process = later.run("up", "--detach")
    assert (process.returncode, "CHUNK_SIZE" in process.stderr) == (1, False)
    assert "EMBEDDING_DIM" in process.stderr
    assert "the last start failed: EMBEDDING_DIM" in Stack(folder).run("doctor").stdout
    assert "a stack cannot start like this: EMBEDDING_DIM" in later.run("doctor").stdout

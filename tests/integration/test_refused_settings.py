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


def test_the_reason_of_a_service_is_the_last_line_and_no_later_start_repeats_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    process = Stack(folder, {"CHUNK_SIZE": "-5"}).run("up", "--detach")
    assert process.returncode == 1
    assert process.stderr.splitlines()[-1] == (
        "error: chunker cannot start: CHUNK_SIZE: must be greater than or equal to 1"
    )
    assert "Traceback" not in process.stderr
    assert process.stderr.count("CHUNK_SIZE") == 1
    later = Stack(folder, {"EMBEDDING_DIM": "wide"}).run("up", "--detach")
    assert (later.returncode, "CHUNK_SIZE" in later.stderr) == (1, False)
    assert "EMBEDDING_DIM" in later.stderr
    assert "the last start failed: EMBEDDING_DIM" in Stack(folder).run("doctor").stdout

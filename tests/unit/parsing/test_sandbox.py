"""The child process of a parser: what it may use, what it sees, and what its end means."""

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.errors import InvalidInput, Unavailable
from runtime.parsing import child, sandbox
from runtime.parsing.content import Content
from runtime.parsing.files import parse
from runtime.parsing.sandbox import parse_apart
from tests.support.pdf_files import pdf

PRELUDE = "from runtime.parsing import child; child.limit(child.PARSING); "

ANSWER = '{"pages": [], "encoding": null, "warnings": [], "unread": [], "figures": []}\nAda'
"""What a parser's child writes."""


@pytest.fixture(scope="module", autouse=True)
def forked_parsers() -> None:
    """Here children are the programs that services start."""


def limited(code: str) -> subprocess.CompletedProcess[str]:
    """Run code under the limits of the child."""
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, check=False
    )


def test_the_child_may_take_a_gibibyte_and_no_more() -> None:
    assert limited("bytes(2**29)").returncode == 0
    assert "MemoryError" in limited("bytes(2**30)").stderr


def test_the_child_writes_no_file_once_it_parses(tmp_path: Path) -> None:
    parsing = "child._limit(child._LIMITS_OF_PARSING); "
    write = f"import pathlib; pathlib.Path({str(tmp_path / 'x')!r}).write_text('x' * 10)"
    assert limited(write).returncode == 0
    assert "File too large" in limited(parsing + write).stderr


async def test_memory_that_runs_out_is_said() -> None:
    with pytest.raises(
        InvalidInput, match=r"a\.json: reading it takes more than 1024 MB of memory: split it"
    ):
        await parse(b"[" + b"1234567," * 6_000_000 + b"1]", "a.json")


async def test_a_parser_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(InvalidInput, match="takes more than 0 s: split it"):
        await parse_apart("pdf", pdf("slow"), seconds=0.001)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            (
                "import resource, signal; resource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile "
                "True: pass"
            ),
            "60 s: split",
        ),
        (
            "import os; os.abort()",
            r"fails on it \(it ended by SIGABRT\): open it in the program that made it",
        ),
        ("raise ValueError('a bug')", r"the parser fails on it \(it ended with 1\)"),
        ("while True: sys.stdout.write('x' * 2**20)", "gives more than 20,971,520 characters"),
        (f"sys.stdin.close(); print({ANSWER!r})", ""),
    ],
    ids=[
        "processor time",
        "a crash",
        "a bug",
        "endless output",
        "an answer before the end of the file",
    ],
)
async def test_the_end_of_a_child_is_an_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, reason: str
) -> None:
    program = tmp_path / "child"
    program.write_text(f"#!{sys.executable}\nimport sys\n{code}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox.sys, "executable", str(program))
    if reason:
        with pytest.raises(InvalidInput, match=reason):
            await parse_apart("docx", b"x" * 2**20)
    else:
        assert (await parse_apart("docx", b"x" * 2**20)).text == "Ada\n"


async def test_a_machine_that_starts_no_process_is_asked_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox.sys, "executable", "/nowhere/python")
    with pytest.raises(Unavailable, match="no process for reading the file"):
        await parse_apart("docx", b"x")


async def test_parsers_see_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "OPENAI_API_KEY" not in sandbox._PASSED_ON
    assert await parse_apart("pdf", pdf("Ada")) == Content("Ada", (0,))


def test_limits_of_the_machine_that_are_lower_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(child.resource, "getrlimit", lambda _: (5, 7))
    monkeypatch.setattr(
        child.resource, "setrlimit", lambda resource, limits: calls.append((resource, limits))
    )
    child._limit(((child.resource.RLIMIT_CPU, 60),))
    assert calls == [(child.resource.RLIMIT_CPU, (7, 7))]

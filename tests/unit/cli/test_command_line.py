"""The command line where no stack runs: help, usage errors, and what it says then."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from stamina.instrumentation import RetryDetails, get_on_retry_hooks, set_on_retry_hooks
from typer.testing import CliRunner

from cli.common import tell_retries
from cli.main import app
from runtime.version import VERSION

COMMANDS = (
    "init",
    "up",
    "down",
    "add",
    "delete",
    "ask",
    "status",
    "log",
    "digest",
    "rebuild",
    "topology",
    "topology apply",
    "topology check",
    "stores",
    "stores apply",
    "stores check",
    "doctor",
    "demo",
    "config",
    "mcp",
)
NEED_A_STACK = (
    "add x.md",
    "ask who?",
    "status",
    "status x.md",
    "log",
    "digest",
    "rebuild all",
    "rebuild graph --rollback",
    "topology apply",
    "topology check",
    "stores apply",
    "stores check",
)

run = CliRunner().invoke


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_its_common_options(command: str) -> None:
    result = run(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert len(result.output) > 200
    if command not in {"topology", "stores"}:
        assert "--data" in result.output
        assert "--json" in result.output


def test_the_version_is_that_of_the_project() -> None:
    result = run(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"lightstream {VERSION}\n")


@pytest.mark.parametrize("command", NEED_A_STACK)
def test_a_command_without_its_stack_says_the_way_out(tmp_path: Path, command: str) -> None:
    result = run(app, [*command.split(), "--data", str(tmp_path / "none")])
    assert result.exit_code == 3
    assert f"lightstream up --detach --data {tmp_path / 'none'}" in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", NEED_A_STACK)
def test_with_json_the_error_is_json(tmp_path: Path, command: str) -> None:
    result = run(app, [*command.split(), "--json", "--data", str(tmp_path)])
    assert result.exit_code == 3
    assert json.loads(result.stdout)["error"]["type"] == "NoStack"


@pytest.mark.parametrize(
    "command",
    [
        "bogus",
        "ask",
        "add",
        "ask x --mode sideways",
        "rebuild",
        "rebuild moon",
        "up --port 0",
        "log --from x",
        "status --colour",
        "ask x --workspace a/b",
        "digest --workspace -x",
        "topology",
        "topology mend",
    ],
)
def test_wrong_usage_is_code_2(command: str) -> None:
    result = run(app, command.split())
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "command", ["bogus", "ask", "ask x --mode sideways", "ask x --workspace a/b"]
)
def test_wrong_usage_is_json_too_when_json_is_wanted(command: str) -> None:
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            "from cli import main; main()",
            *command.split(),
            "--json",
        ],
        capture_output=True,
        check=False,
        text=True,
    )
    assert result.returncode == 2
    error = json.loads(result.stdout)["error"]
    assert error["type"] == "UsageError"
    assert error["message"]


def test_down_without_a_stack_is_no_error(tmp_path: Path) -> None:
    result = run(app, ["down", "--json", "--data", str(tmp_path / "none")])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["stopped"] is False
    assert not (tmp_path / "none").exists()


def test_a_damaged_data_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text("{")
    for command in ("status", "down"):
        result = run(app, [command, "--data", str(tmp_path)])
        assert result.exit_code == 1
        assert "stack.json is damaged" in result.stderr


def test_the_doctor_says_what_is_there_and_that_nothing_runs(tmp_path: Path) -> None:
    result = run(
        app,
        ["doctor", "--json", "--data", str(tmp_path)],
        env={"OPENAI_API_KEY": "", "LLM_API_KEY": ""},
    )
    findings = json.loads(result.stdout)
    assert {"level": "well", "what": "all parts are installed", "todo": ""} in findings
    assert any("no stack is running" in finding["what"] and finding["todo"] for finding in findings)
    assert any("no language model" in finding["what"] for finding in findings)
    faults = [finding for finding in findings if finding["level"] == "fault"]
    assert result.exit_code == (1 if faults else 0)
    assert all(finding["todo"] for finding in faults)


def test_a_period_that_ends_before_it_begins_is_refused(tmp_path: Path) -> None:
    period = ["--since", "2026-12-01", "--until", "2026-11-01"]
    result = run(app, ["receipts", "export", *period, "--data", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert "is not later than --since" in result.stderr


def test_an_unknown_encoding_is_code_2_before_anything_else(tmp_path: Path) -> None:
    result = run(app, ["add", "x.md", "--encoding", "klingon", "--data", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert "'klingon' is no encoding that is known: give one like utf-8" in result.stderr


def test_help_loads_no_driver() -> None:
    script = (
        "import sys; import cli\n"
        "heavy = {'nats', 'httpx', 'neo4j', 'pymilvus', 'openai', 'faststream', "
        "'onnxruntime', 'docx', 'pypdfium2',\n"
        "         'mcp', 'mcp_types'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert result.stdout.strip() == "[]"


def test_a_command_that_waits_says_for_what_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    before = get_on_retry_hooks()
    try:
        tell_retries()
        (tell,) = get_on_retry_hooks()
        for wait in (0.2, 14.8):
            tell(RetryDetails("", (), {}, 1, wait, 0.0, ValueError("the language model is paused")))
    finally:
        set_on_retry_hooks(before)
    assert capsys.readouterr().err == "waits 15 s: the language model is paused\n"


@pytest.mark.parametrize(
    ("option", "text", "cause"),
    [
        ("--prompt", "Extract.", "the prompt lacks {form}"),
        ("--entity-types", "ships: [Ship]", "`ships` is no key of this file"),
    ],
)
def test_a_file_that_no_branch_can_use_is_refused_at_once(
    tmp_path: Path, option: str, text: str, cause: str
) -> None:
    file = tmp_path / "file"
    file.write_text(text, "utf-8")
    result = run(app, ["branch", "create", "small", option, str(file), "--json"])
    assert result.exit_code == 2
    assert cause in json.loads(result.output)["error"]["message"]

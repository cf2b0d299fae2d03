"""The settings file of the working folder: what commands read of it, and how it is written."""

import os
from pathlib import Path

import pytest
from dotenv import dotenv_values
from typer.testing import CliRunner

from cli.main import app
from cli.settings_file import VARIABLE, read_settings_file
from cli.stack import report_other_models, report_other_port
from embedded.data_folder import DataFolder, StackState
from embedded.ports import ApiAddress
from embedded.stack import configured_models
from runtime.errors import InvalidInput
from runtime.settings_lines import write_settings

run = CliRunner().invoke


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of the test's own, and leave the variables of this process as they were."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE)
    for name in ("LLM_MODEL", "LLM_API_KEY", "TOP_K", "HOST", "PORT", "LIGHTRAG_API_KEY"):
        monkeypatch.setenv(name, "")
    return tmp_path


def test_the_file_of_the_working_folder_sets_what_the_environment_does_not(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOP_K", "7")
    (in_folder / ".env").write_text(
        "# models\nexport LLM_MODEL='a model'\nLLM_API_KEY=sk-$ecret\nTOP_K=3\nEMPTY=\n"
    )
    read = read_settings_file(None)
    assert read is not None
    assert (read.applied, read.overridden) == (("LLM_MODEL", "LLM_API_KEY"), ("TOP_K",))
    assert os.environ["LLM_MODEL"] == "a model"
    assert os.environ["LLM_API_KEY"] == "sk-$ecret"
    assert os.environ["TOP_K"] == "7"


def test_the_address_of_lightrag_s_example_lets_nobody_in_whom_nobody_knows(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = "HOST=0.0.0.0\nPORT=9621\n"
    (in_folder / ".env").write_text(example)
    read = read_settings_file(None)
    assert read is not None and read.is_closed
    assert not os.environ["HOST"] and not os.environ["PORT"]
    (in_folder / ".env").write_text(f"{example}LIGHTRAG_API_KEY=of-somebody\n")
    read = read_settings_file(None)
    assert read is not None and not read.is_closed
    assert os.environ["HOST"] == "0.0.0.0"
    monkeypatch.setenv("HOST", "127.0.0.1")
    monkeypatch.setenv("LIGHTRAG_API_KEY", "")
    (in_folder / ".env").write_text(example)
    read = read_settings_file(None)
    assert read is not None and (read.is_closed, read.overridden) == (False, ("HOST",))


def test_without_a_file_nothing_is_read(in_folder: Path) -> None:
    assert read_settings_file(None) is None
    (in_folder / ".env").mkdir()  # a virtual environment of that name is none
    assert read_settings_file(None) is None


def test_an_empty_name_means_no_file(in_folder: Path) -> None:
    (in_folder / ".env").write_text("LLM_MODEL=a\n")
    assert read_settings_file("") is None
    assert not os.environ["LLM_MODEL"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"LLM_MODEL='open\n", "x.env, line 1: not of the form NAME=value"),
        (b"LLM_MODEL=\xff\n", "x.env is no settings file: it is not UTF-8"),
        (None, "there is no settings file x.env"),
    ],
)
def test_a_named_file_that_cannot_be_read_is_an_error(
    in_folder: Path, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (in_folder / "x.env").write_bytes(content)
    with pytest.raises(InvalidInput, match=reason):
        read_settings_file("x.env")
    result = run(app, ["--env-file", "x.env", "config"])
    assert (result.exit_code, reason in result.stderr) == (2, True)


def test_config_names_the_variables_of_the_file_and_no_value_of_a_secret(in_folder: Path) -> None:
    (in_folder / ".env").write_text("LLM_API_KEY=sk-secret\nLLM_MODEL=tide-1\n")
    result = run(app, ["config"])
    assert "settings of .env: LLM_API_KEY, LLM_MODEL" in result.stderr
    assert "LLM_MODEL = tide-1  (LLM_MODEL)" in result.stdout
    assert "sk-secret" not in result.output


def test_written_variables_replace_lines_of_theirs_and_leave_others(in_folder: Path) -> None:
    file = in_folder / ".env"
    file.write_text("# mine\nexport LLM_MODEL=old\nTOP_K=5\nLLM_API_KEY=old\n")
    file.chmod(0o644)
    write_settings(file, {"LLM_MODEL": 'it\'s "new" \\ $x #1', "LLM_API_KEY": ""})
    assert file.read_text().splitlines()[:2] == ["# mine", "TOP_K=5"]
    assert dotenv_values(file, interpolate=False) == {
        "TOP_K": "5",
        "LLM_MODEL": 'it\'s "new" \\ $x #1',
    }
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_value_of_several_lines_is_refused(in_folder: Path) -> None:
    with pytest.raises(InvalidInput, match="LLM_API_KEY must be one line"):
        write_settings(in_folder / ".env", {"LLM_API_KEY": "a\nTOP_K=1"})
    assert not (in_folder / ".env").exists()


def test_nobody_can_be_asked_where_no_terminal_is() -> None:
    result = run(app, ["init"])
    assert result.exit_code == 2
    assert "give --provider, one of openai, ollama" in result.stderr


def test_a_running_stack_that_keeps_other_models_is_reported(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = StackState(models=configured_models())
    reports: list[str] = []
    report_other_models(DataFolder.at(in_folder), state, reports.append)
    assert reports == []
    (in_folder / ".env").write_text("LLM_MODEL=tide-1\nLLM_API_KEY=sk-secret\n")
    read_settings_file(None)
    report_other_models(DataFolder.at(in_folder), state, reports.append)
    (sentence,) = reports
    assert "it keeps its models" in sentence and "tide-1" in sentence
    assert "lightstream down" in sentence and "sk-secret" not in sentence


@pytest.mark.parametrize(("port", "count"), [(None, 0), (9621, 0), (9777, 1)])
def test_a_running_stack_that_has_another_port_says_so(
    in_folder: Path, port: int | None, count: int
) -> None:
    reports: list[str] = []
    state = StackState(ports={"api": 9621})
    report_other_port(DataFolder.at(in_folder), state, ApiAddress(port=port), reports.append)
    assert len(reports) == count
    assert all("for 9777: `lightstream down" in report for report in reports)

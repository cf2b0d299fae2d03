"""The table of all commands: what changes something has --json and --reason, what takes away or
repeats has --yes.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from cli import audit_lines
from cli.audit_lines import audit_line
from cli.main import app
from cli.rebuild_options import workspaces_rebuilt
from runtime.errors import InvalidInput

READ = {
    "validity contradictions",
    "validity propose",
    "validity show",
    "alias list",
    "ask",
    "branch diff",
    "branch list",
    "branch status",
    "budget show",
    "embedding show",
    "config",
    "cost",
    "dead list",
    "dead show",
    "diff",
    "digest",
    "doctor",
    "find",
    "golden export",
    "golden feedback",
    "golden history",
    "golden list",
    "history",
    "import exporter",
    "log",
    "partition list",
    "paths",
    "projections list",
    "read",
    "access explain",
    "access show",
    "receipts export",
    "receipts list",
    "receipts replay",
    "receipts show",
    "receipts verify",
    "region address",
    "region status",
    "sources list",
    "status",
    "stores check",
    "topology check",
    "topology export",
    "verify",
    "webhooks list",
    "webhooks test",
}
RUN_PROCESSES = {"demo", "down", "init", "intake", "mcp", "operator", "region follow", "up"}
"""They begin and end processes of a stack, or write its settings, and change nothing in it."""

TAKE_AWAY_OR_REPEAT = {
    "alias reject",
    "alias undo",
    "branch drop",
    "budget clear",
    "dead drop",
    "dead redrive",
    "delete",
    "erase",
    "golden remove",
    "region promote",
    "repair",
    "restore",
    "retry",
    "sources forget",
    "undo",
    "webhooks remove",
    "webhooks replay",
}
ADD_OR_MAKE_ANEW = {
    "access set",
    "add",
    "tag",
    "validity accept",
    "validity reject",
    "validity set",
    "validity withdraw",
    "alias accept",
    "alias propose",
    "alias split",
    "audit",
    "backup",
    "branch create",
    "branch promote",
    "branch rollback",
    "budget set",
    "embedding clear",
    "embedding set",
    "figures describe",
    "golden add",
    "golden import",
    "golden run",
    "import lightrag",
    "partition move",
    "rebuild",
    "region forget",
    "sources pause",
    "sources resume",
    "stores apply",
    "sync",
    "topology apply",
    "watch",
    "webhooks add",
    "webhooks enable",
    "webhooks rotate",
}


def options(command: Any, name: str = "") -> dict[str, set[str]]:
    """The options of each command, by its name."""
    if hasattr(command, "commands"):
        return {
            full: switches
            for part, below in command.commands.items()
            for full, switches in options(below, f"{name} {part}".strip()).items()
        }
    return {name: {option for parameter in command.params for option in parameter.opts}}


OPTIONS = options(get_command(app))


def test_every_command_is_in_one_part_of_the_table() -> None:
    parts = (READ, RUN_PROCESSES, TAKE_AWAY_OR_REPEAT, ADD_OR_MAKE_ANEW)
    assert sorted(name for part in parts for name in part) == sorted(OPTIONS)


@pytest.mark.parametrize("command", sorted(TAKE_AWAY_OR_REPEAT | ADD_OR_MAKE_ANEW))
def test_what_changes_something_tells_it_as_json_and_takes_a_reason(command: str) -> None:
    assert OPTIONS[command] >= {"--json", "--reason", "--data"}


@pytest.mark.parametrize("command", sorted(READ - {"import exporter", "topology export"}))
def test_what_reads_tells_it_as_json_too(command: str) -> None:
    assert "--json" in OPTIONS[command]


@pytest.mark.parametrize("command", sorted(TAKE_AWAY_OR_REPEAT))
def test_what_takes_away_or_repeats_only_says_so_without_yes(command: str) -> None:
    assert "--yes" in OPTIONS[command]


def lines(folder: Path) -> list[dict[str, Any]]:
    """The audit lines in a data folder."""
    return [json.loads(line) for line in (folder / audit_lines.FILE).read_text().splitlines()]


def test_a_command_leaves_a_line_with_who_what_why_and_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGHTSTREAM_ACTOR", "ann")
    monkeypatch.delenv("NATS_URL", raising=False)
    with audit_line("dead drop", tmp_path, "no use", numbers=[7], stage=""):
        pass
    with pytest.raises(typer.Exit), audit_line("backup", tmp_path, ""):
        raise typer.Exit(1)
    with pytest.raises(InvalidInput), audit_line("repair", tmp_path, ""):
        raise InvalidInput("no")
    with audit_line("repair", tmp_path, "", changes=False):
        pass
    first, *further_lines = lines(tmp_path)
    assert first.pop("timestamp").startswith("20")
    assert first == {
        "event": "audit",
        "who": "ann",
        "what": "dead drop",
        "numbers": [7],
        "reason": "no use",
        "outcome": 0,
    }
    assert [(line["what"], line["outcome"]) for line in further_lines] == [
        ("backup", 1),
        ("repair", 2),
    ]
    assert (tmp_path / audit_lines.FILE).stat().st_mode & 0o777 == 0o600


def test_of_a_deployment_the_line_goes_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NATS_URL", "nats://127.0.0.1:1")
    with audit_line("stores apply", None, "new release"):
        pass
    assert json.loads(capsys.readouterr().err)["reason"] == "new release"


def test_a_command_without_its_stack_leaves_nothing(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["dead", "drop", "7", "--yes", "--data", str(tmp_path / "none")])
    assert (run.exit_code, (tmp_path / "none").exists()) == (3, False)


def test_a_rebuild_says_that_it_is_of_all_workspaces() -> None:
    notice = workspaces_rebuilt("run", "acme")
    assert "not acme alone" in notice and "lightstream rebuild check --workspace acme" in notice
    assert workspaces_rebuilt("check", "acme") == workspaces_rebuilt("run", "default") == ""

"""What an order for a rebuild becomes: one command, whose words no order chooses, and what that
command said.
"""

import asyncio
import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest
from nats.aio.msg import Msg

from embedded.operator_process import StackOrders, command, order_files, read_result
from runtime.branch_options import BranchOptions
from runtime.bus.memory import MemorySharedValues
from runtime.projections.operator_orders import OperatorOrder

ORDER = OperatorOrder("start", "vectors", "key:ops")


def test_an_order_is_one_command() -> None:
    assert command(ORDER) == ["rebuild", "start", "vectors", "--json"]
    assert command(replace(ORDER, step="run", projection="all")) == ["rebuild", "all", "--json"]
    order = replace(
        ORDER, embedding_model="--data=/etc", reason="--yes", events_per_second=5, embedding_dim=3
    )
    assert command(order)[3:] == [
        "--json",
        "--events-per-second=5",
        "--embedding-model=--data=/etc",
        "--embedding-dim=3",
        "--reason=--yes",
    ]


@pytest.mark.parametrize(
    "fields", [{"step": "await"}, {"projection": "--fresh"}, {"step": "--data"}]
)
def test_an_order_of_anything_else_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no such step"):
        command(replace(ORDER, **fields))


def test_what_a_command_said_is_its_result_or_its_error() -> None:
    assert read_result(b'{"events": 7}', 0) == {"events": 7}
    output = json.dumps({"newer": list(range(30))}).encode()
    assert read_result(output, 0) == {"newer": list(range(20))}
    error_output = b'{"error": {"type": "Busy", "message": "there is a rebuild"}}'
    assert read_result(error_output, 1) == {"error": "there is a rebuild"}
    assert "code -9" in read_result(b"", -9)["error"]
    findings = json.dumps(
        {"events": 9, "problems": [f"sequence {n} is missing" for n in range(30)]}
    ).encode()
    problems = [f"sequence {n} is missing" for n in range(20)]
    assert read_result(findings, 1) == {"events": 9, "problems": problems, "error": problems[0]}
    assert read_result(b'{"texts": 2}', 1) == {"texts": 2, "error": "the command ended with code 1"}


def test_an_audit_and_a_backup_are_commands_whose_folder_no_order_names() -> None:
    audit = replace(ORDER, step="audit", reason="--accept", embedding_model="--accept")
    assert command(audit) == ["audit", "--json", "--reason=--accept"]
    assert command(replace(audit, step="backup"), "/backups") == [
        "backup",
        "/backups",
        "--json",
        "--reason=--accept",
    ]
    assert command(replace(audit, reason="")) == ["audit", "--json"]


def test_digests_and_questions_are_of_the_workspace_that_is_named() -> None:
    assert command(replace(ORDER, step="digest", workspace="--as-of=1")) == [
        "digest",
        "--json",
        "--workspace=--as-of=1",
    ]
    assert command(replace(ORDER, workspace="papers"))[4:] == ["--workspace=papers"]


def test_a_branch_is_a_command_whose_name_and_texts_are_no_options() -> None:
    # As an order arrives, unchecked.
    branch = BranchOptions(name="small", prompt="{form}", chunk_overlap=0)
    branch = branch.model_copy(update={"entity_types": "--yes"})
    order = replace(
        ORDER, step="branch-estimate", workspace="papers", reason="--yes", branch=branch
    )
    estimate = ["branch", "create", "small", "--json", "--chunk-overlap=0"]
    assert command(order) == [*estimate, "--workspace=papers", "--reason=--yes"]
    created = replace(
        order,
        step="branch-create",
        reason="",
        branch=BranchOptions(name="small", budget=0.0, sample=7),
    )
    assert command(created)[3:-1] == ["--json", "--yes", "--sample=7", "--budget=0.0"]
    dropped = replace(order, step="branch-drop", reason="", branch=BranchOptions(name="small"))
    assert command(dropped)[:-1] == ["branch", "drop", "small", "--yes", "--json"]
    with order_files(order) as options:
        files = {option.split("=")[0]: Path(option.split("=")[1]) for option in options}
        texts = {name: file.read_text("utf-8") for name, file in files.items()}
    assert texts == {"--prompt": "{form}", "--entity-types": "--yes"}
    assert not any(file.exists() for file in files.values())
    for fields in ({"branch": BranchOptions(name="--data")}, {"step": "start"}):
        with pytest.raises(ValueError, match="no such step"):
            command(replace(order, **fields))


def test_figures_are_a_command_in_which_no_document_is_an_option() -> None:
    order = replace(ORDER, step="figures-estimate", workspace="papers", documents=("a.pdf",))
    estimate = ["figures", "describe", "a.pdf", "--json"]
    assert command(replace(order, reason="")) == [*estimate, "--workspace=papers"]
    described = replace(order, step="figures-describe", reason="why")
    assert command(described) == [*estimate, "--yes", "--workspace=papers", "--reason=why"]
    again = replace(described, reason="", again=True)
    assert command(again) == [*estimate, "--again", "--yes", "--workspace=papers"]
    with pytest.raises(ValueError, match="hyphen"):
        command(replace(order, documents=("--data=/tmp",)))


def test_an_embedding_model_is_a_command_in_which_it_is_no_option() -> None:
    order = replace(
        ORDER,
        step="embedding-estimate",
        workspace="handbuch",
        embedding_model="multilingual",
        reason="why",
    )
    estimate = ["embedding", "set", "multilingual", "--json"]
    assert command(order) == [*estimate, "--workspace=handbuch", "--reason=why"]
    chosen = replace(order, step="embedding-set", reason="")
    assert command(chosen) == [*estimate, "--yes", "--workspace=handbuch"]
    accepted = [*estimate, "--yes", "--accept-worse", "--workspace=handbuch"]
    assert command(replace(chosen, accept_worse=True)) == accepted
    assert command(replace(order, accept_worse=True)) == command(order)
    assert command(replace(chosen, embedding_model=""))[:4] == [
        "embedding",
        "clear",
        "--json",
        "--yes",
    ]
    with pytest.raises(ValueError, match="no such model"):
        command(replace(order, embedding_model="--data=/tmp"))


async def test_questions_are_lines_of_a_file_that_is_gone_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files: list[tuple[Path, str]] = []

    async def begin(*words: str, **_: Any) -> Any:
        file = next(
            Path(word.removeprefix("--compare=")) for word in words if word.startswith("--compare=")
        )
        files.append((file, file.read_text("utf-8")))
        return SimpleNamespace(
            communicate=AsyncMock(return_value=(b'{"compared": {}}', b"")), returncode=0
        )

    monkeypatch.setattr(asyncio, "create_subprocess_exec", begin)
    operator = StackOrders(MemorySharedValues(), (), lambda _: None, backup_folder="")
    order = replace(ORDER, questions=("Who?", "One\nquestion of two lines?"))
    message = SimpleNamespace(data=json.dumps(asdict(order)).encode(), respond=AsyncMock())
    await operator.answer(cast("Msg", message))
    assert operator.work
    await operator.work
    ((file, text),) = files
    assert (text, file.exists()) == ("Who?\nOne question of two lines?", False)


async def test_a_backup_without_a_folder_is_refused_before_anything_begins() -> None:
    operator = StackOrders(MemorySharedValues(), (), print, backup_folder="")
    message = SimpleNamespace(
        data=json.dumps(asdict(replace(ORDER, step="backup"))).encode(), respond=AsyncMock()
    )
    await operator.answer(cast("Msg", message))
    (reply,) = message.respond.await_args.args
    assert "BACKUP_DIR" in json.loads(reply)["refused"] and operator.running_order is None

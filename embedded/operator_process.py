"""Takes orders for rebuilds, audits, backups, digests, branches, figures and embedding models from
the bus and gives the command for each, one at a time.

Each has a process of its own, for a rebuild takes memory that only the end of a process gives back,
and because what it is killed for must not end a supervisor. An order has no say in the command but
by fields that are checked.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import Field

from contracts import subjects
from contracts.graph import PROJECTIONS
from contracts.ids import BRANCH_PATTERN
from contracts.topology import CHECKPOINTS_BUCKET
from embedded.rolling_audit import audit_for_ever
from runtime.branch_options import BranchOptions
from runtime.bus.actor import ACTOR_VARIABLE
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.port import SharedValues
from runtime.concurrency.background import in_background
from runtime.errors import ServiceError
from runtime.projections.operator_orders import (
    BranchStep,
    OperatorOrder,
    OrderOutcome,
    Step,
    Task,
    write_outcome,
)
from runtime.settings import Settings

GRACE = 10.0
"""Seconds a command may take to end when this process stops."""

MAX_LISTED = 20
"""Items of a list, as of problems, that an outcome has."""

OF_BACKUP = (
    "taken_at",
    "complete",
    "messages",
    "texts",
    "new",
    "last",
    "erased",
    "undigested",
    "missing_blobs",
    "unreadable",
    "problems",
    "error",
)
"""What an outcome has of a backup: its manifest is as long as it has parts."""

OF_BRANCH = (
    "documents",
    "chunks",
    "models",
    "currency",
    "money",
    "basis",
    "workspace",
    "dropped",
    "events",
    "error",
)
"""What an outcome has of a branch: none of the names of documents that an estimate lists."""

BRANCH_TEXTS = {"prompt", "entity_types"}
"""Options of a branch that a command takes as files."""

OF_FIGURES = ("figures", "models", "currency", "money", "basis", "error")
"""What an outcome has of descriptions of figures, and of their estimate."""

SHOWN: Mapping[Task, Sequence[str]] = {
    "backup": OF_BACKUP,
    "branch": OF_BRANCH,
    "figures": OF_FIGURES,
}
"""What an outcome has of what a command says; all of it for tasks that are not here."""


class OrderSettings(Settings):
    """Settings of whoever takes orders."""

    backup_dir: str = Field(
        default="",
        description=(
            "folder of the backups that are ordered over HTTP, where orders are taken; empty: none"
        ),
    )
    """An order names no folder, for it comes over the network."""


@dataclass
class StackOrders:
    """The orders of one stack. `options` are those of every command, such as its data folder."""

    values: SharedValues
    options: Sequence[str]
    report: Callable[[str], None]
    backup_folder: str = field(default_factory=lambda: OrderSettings().backup_dir)
    running_order: OperatorOrder | None = None
    work: asyncio.Task[None] | None = field(default=None, repr=False)

    async def answer(self, message: Msg) -> None:
        """Answer a request: an empty one with the order under way, an order by beginning it."""
        await message.respond(json.dumps(self._begin(message.data)).encode())

    def _begin(self, data: bytes) -> dict[str, Any]:
        if not data:
            return {"current": self.running_order.id if self.running_order else ""}
        order = OperatorOrder.of(json.loads(data))
        command(order, self.backup_folder)  # refuses fields of no use before anything begins
        if order.task == "backup" and not self.backup_folder:
            return {
                "refused": (
                    "no folder for backups is named: set BACKUP_DIR for the process that takes "
                    "orders"
                )
            }
        if self.running_order:
            return {"busy": f"{self.running_order}, ordered by {self.running_order.who}"}
        self.running_order = order
        self.work = asyncio.create_task(self._run(order))
        return {"accepted": order.id}

    async def _run(self, order: OperatorOrder) -> None:
        outcome = OrderOutcome(order, "running", _now())
        self.report(f"{order}, ordered by {order.who}")
        try:
            await self._note(outcome)
            result = await self._give(order)
            error = result.pop("error", "")
            self.report(f"{order}: {error or 'done'}")
            state = "failed" if error else "done"
            await self._note(
                replace(outcome, state=state, ended=_now(), error=error, result=result)
            )
        finally:
            self.running_order = None

    async def _give(self, order: OperatorOrder) -> dict[str, Any]:
        """Give the command, and return what it says, or `{"error": …}`."""
        with order_files(order) as options:
            return await self._give_words(order, [*command(order, self.backup_folder), *options])

    async def _give_words(self, order: OperatorOrder, words: Sequence[str]) -> dict[str, Any]:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "cli",
            *words,
            *self.options,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, ACTOR_VARIABLE: order.who},
        )
        try:
            output, _ = await child.communicate()
        finally:
            if child.returncode is None:
                child.terminate()
                with suppress(TimeoutError):
                    async with asyncio.timeout(GRACE):
                        await child.wait()
        result = read_result(output, child.returncode or 0)
        shown_names = SHOWN.get(order.task, result.keys())
        return {name: result[name] for name in shown_names if name in result}

    async def _note(self, outcome: OrderOutcome) -> None:
        # Whoever looks sees the projections, too: an outcome that cannot be noted is no reason to
        # stop.
        with suppress(ServiceError):
            await write_outcome(self.values, outcome)

    async def stop(self) -> None:
        """End the command under way: a rebuild that was stopped is started again by another
        order.
        """
        if self.work:
            self.work.cancel()
            await asyncio.gather(self.work, return_exceptions=True)


@contextmanager
def order_files(order: OperatorOrder) -> Generator[list[str]]:
    """Yield options with files of what is too long for a command, which are gone afterwards."""
    texts: dict[str, str] = {}
    if order.questions:
        texts["compare"] = "\n".join(" ".join(question.split()) for question in order.questions)
    if order.branch:
        branch_texts = order.branch.model_dump(include=BRANCH_TEXTS, exclude_defaults=True)
        texts |= {name.replace("_", "-"): text for name, text in branch_texts.items()}
    with TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.txt") for name in texts}
        for name, file in files.items():
            file.write_text(texts[name], "utf-8")
        yield [f"--{name}={file}" for name, file in files.items()]


def command(order: OperatorOrder, backup_folder: str = "") -> list[str]:
    """Return the arguments of `lightstream` for an order. Raises ValueError for an order that has
    no command.
    """
    # Values as one word with their names: one that begins with a hyphen is no option.
    why = [f"--reason={order.reason}"] if order.reason else []
    of_workspace = [f"--workspace={order.workspace}"] if order.workspace else []
    if order.step == "audit":
        return ["audit", "--json", *why]
    if order.step == "digest":
        return ["digest", "--json", *of_workspace]
    if order.step == "backup":
        return ["backup", backup_folder, "--json", *why]
    if order.branch:
        return [*_branch_command(order, order.branch), *of_workspace, *why]
    if order.task == "figures":
        return [*_figures_command(order), *of_workspace, *why]
    if order.task == "embedding":
        return [*_embedding_command(order), *of_workspace, *why]
    if order.step not in get_args(Step) or order.projection not in (*PROJECTIONS, "all"):
        raise ValueError(f"no such step: {order.step!r} {order.projection!r}")
    step = [order.projection] if order.step == "run" else [order.step, order.projection]
    options = {
        "--events-per-second": order.events_per_second,
        "--embedding-model": order.embedding_model,
        "--embedding-dim": order.embedding_dim,
    }
    return [
        "rebuild",
        *step,
        "--json",
        *(f"{name}={value}" for name, value in options.items() if value),
        *of_workspace,
        *(["--yes"] if order.accept_worse and order.step in ("run", "promote") else []),
        *why,
    ]


def _branch_command(order: OperatorOrder, branch: BranchOptions) -> list[str]:
    """Return the command for a branch, without workspace and reason. Its name cannot be taken for
    an option. Raises ValueError for a step or a name of no use.
    """
    if order.step not in get_args(BranchStep) or not re.match(BRANCH_PATTERN, branch.name):
        raise ValueError(f"no such step: {order.step!r} {branch.name!r}")
    if order.step == "branch-drop":
        return ["branch", "drop", branch.name, "--yes", "--json"]
    options = branch.model_dump(exclude={"name", *BRANCH_TEXTS}, exclude_defaults=True)
    given_options = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    is_wanted = ["--yes"] if order.step == "branch-create" else []
    return ["branch", "create", branch.name, "--json", *is_wanted, *given_options]


def _figures_command(order: OperatorOrder) -> list[str]:
    """Return the command for figures, without workspace and reason. Raises ValueError for the name
    of a document that could be taken for an option.
    """
    if any(name.startswith("-") for name in order.documents):
        raise ValueError("no document whose name begins with a hyphen: give its id")
    is_wanted = ["--yes"] if order.step == "figures-describe" else []
    are_all_meant = ["--again"] if order.again else []
    return ["figures", "describe", *order.documents, "--json", *are_all_meant, *is_wanted]


def _embedding_command(order: OperatorOrder) -> list[str]:
    """Return the command for an embedding model, without workspace and reason. Raises ValueError
    for a name that could be taken for an option.
    """
    model = order.embedding_model
    if model.startswith("-"):
        raise ValueError(f"no such model: {model!r}")
    is_wanted = ["--yes"] if order.step == "embedding-set" else []
    if is_wanted and order.accept_worse:
        is_wanted.append("--accept-worse")
    return ["embedding", *(["set", model] if model else ["clear"]), "--json", *is_wanted]


def read_result(output: bytes, code: int) -> dict[str, Any]:
    """Return what a command printed with --json, or `{"error": …}` with the reason it did not
    succeed.
    """
    try:
        result: dict[str, Any] = json.loads(output)
    except ValueError:
        return {"error": f"the command ended with code {code} and said nothing that can be read"}
    result = {
        name: value[:MAX_LISTED] if isinstance(value, list) else value
        for name, value in result.items()
    }
    if code:
        # What an audit has found is no error of the command, but nobody may take it for well.
        problem = next(iter(result.get("problems", ())), f"the command ended with code {code}")
        result["error"] = str(result.get("error", {}).get("message", problem))
    return result


@asynccontextmanager
async def take_orders(
    client: Client, options: Sequence[str], report: Callable[[str], None]
) -> AsyncGenerator[None]:
    """Take orders for as long as the block lasts. Raises ConfigurationError without the bucket of
    checkpoints.
    """
    values = await NatsSharedValues.bind(client.jetstream(), CHECKPOINTS_BUCKET)
    orders = StackOrders(values, options, report)
    subscription = await client.subscribe(subjects.REBUILDS, queue="operator", cb=orders.answer)
    try:
        async with in_background(audit_for_ever(options, lambda: orders.running_order is not None)):
            yield
    finally:
        with suppress(Exception):  # the connection may be closed
            await subscription.unsubscribe()
        await orders.stop()


@asynccontextmanager
async def take_orders_at(
    url: str, options: Sequence[str], report: Callable[[str], None]
) -> AsyncGenerator[None]:
    """Take orders over a connection of its own. Raises ConfigurationError when the bus does not
    answer.
    """
    async with (
        connected(url, name="lightstream-operator") as client,
        take_orders(client, options, report),
    ):
        yield


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"

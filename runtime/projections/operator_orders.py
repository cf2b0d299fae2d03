"""Orders that whoever may carries out: the query service asks, a process with the operator's rights
does it.

What is ordered is a step of a rebuild, an audit of the log, a backup of it, the digests of what is
live, a branch: its estimate, its beginning or its end, or descriptions of figures.

A request is a message that an operator process answers at once, or nobody does: then there is none.
What becomes of it stands on the bus, as the outcome of the last request; how far it is, the lease
of the rebuild says.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol, Self, get_args
from uuid import uuid4

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts import subjects
from contracts.graph import Projection
from runtime.branch_options import BranchOptions
from runtime.bus.port import SharedValues
from runtime.errors import Busy, InvalidInput, Unavailable

KEY = "{}_outcome"
"""In the bucket of checkpoints, by the task; behind it the workspace, for what concerns one."""

TIMEOUT = 5.0
"""Seconds for an operator process to answer."""

Step = Literal["run", "start", "promote", "rollback", "cleanup"]

LogTask = Literal["audit", "backup"]
"""What is ordered of the log, as the command of that name does it."""

BranchStep = Literal["branch-estimate", "branch-create", "branch-drop"]
"""What is ordered of a branch, as the commands have it."""

FigureStep = Literal["figures-estimate", "figures-describe"]
"""What is ordered of the figures of a workspace, as `lightstream figures describe` has it."""

EmbeddingStep = Literal["embedding-estimate", "embedding-set"]
"""What is ordered of the embedding model of a workspace, as `lightstream embedding` has it."""

Task = Literal["rebuild", "digest", "branch", "figures", "embedding"] | LogTask

OF_WORKSPACE: frozenset[Task] = frozenset({"branch", "figures", "embedding"})
"""Tasks of which each workspace has a last order."""


@dataclass(frozen=True)
class OperatorOrder:
    """A step that is asked for. `who` asks, and why; the rest is as `lightstream rebuild` has
    it.
    """

    step: Step | LogTask | BranchStep | FigureStep | EmbeddingStep | Literal["digest"]
    projection: Projection | Literal["all"]
    who: str
    reason: str = ""
    events_per_second: int = 0
    embedding_model: str = ""
    embedding_dim: int = 0
    workspace: str = ""
    """Whose digests, figures or embedding model are meant, or which has the branch; "" for the
    default one.
    """
    documents: Sequence[str] = ()
    """Ids or names of the documents whose figures are described; none: all."""
    again: bool = False
    """Whether figures are meant, too, that another model has described."""
    questions: Sequence[str] = ()
    """With `start`: asked of the live and of the new vectors."""
    accept_worse: bool = False
    """With `run`, `promote` and `embedding-set`: go live although golden questions fare worse."""
    branch: BranchOptions | None = None
    id: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Return the order of these fields, as `fields` has them. Options of a branch are taken
        unchecked: what was ordered once can be read though no package has its chunker any more.
        """
        order = cls(**fields)
        branch: Mapping[str, Any] | None = fields.get("branch")
        return replace(order, branch=BranchOptions.model_construct(**branch) if branch else None)

    def fields(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        branch = self.branch.model_dump() if self.branch else None
        return {**asdict(self), "branch": branch}

    @property
    def task(self) -> Task:
        """Return what has an outcome of its own."""
        if self.branch:
            return "branch"
        if self.step in get_args(FigureStep):
            return "figures"
        if self.step in get_args(EmbeddingStep):
            return "embedding"
        return (
            self.step
            if self.step == "audit" or self.step == "backup" or self.step == "digest"
            else "rebuild"
        )

    def __str__(self) -> str:
        if self.branch:
            return f"{self.step.replace('-', ' ')} {self.branch.name}"
        if self.task == "rebuild":
            return f"rebuild {self.step} {self.projection}"
        return self.step.replace("-", " ")


@dataclass(frozen=True)
class OrderOutcome:
    """What became of the last order. Times are ISO 8601 in UTC; `result` is what the command
    says.
    """

    order: OperatorOrder
    state: Literal["running", "done", "failed"]
    started: str
    ended: str = ""
    error: str = ""
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])


class OperatorProcess(Protocol):
    """Whoever takes orders."""

    async def current(self) -> str | None:
        """Return the id of the order that is worked on, "" for none; None where nobody takes
        orders.
        """
        ...

    async def order(self, order: OperatorOrder) -> None:
        """Have it begun. Raises `Busy` during another, `InvalidInput`, `Unavailable` where nobody
        takes orders.
        """
        ...


@dataclass(frozen=True)
class NatsOperatorProcess:
    """`OperatorProcess` behind the bus."""

    client: Client

    async def current(self) -> str | None:
        try:
            answer = await self.client.request(subjects.REBUILDS, b"", timeout=TIMEOUT)
        except (NatsError, TimeoutError):
            return None
        return json.loads(answer.data).get("current", "")

    async def order(self, order: OperatorOrder) -> None:
        try:
            answer = await self.client.request(
                subjects.REBUILDS, json.dumps(order.fields()).encode(), timeout=TIMEOUT
            )
        except NoRespondersError:
            raise Unavailable(
                "no operator process takes orders: start one (`lightstream operator`), "
                f"or use `lightstream {order.task}`"
            ) from None
        except (NatsError, TimeoutError) as error:
            raise Unavailable(
                f"the operator process does not answer: {type(error).__name__}"
            ) from None
        reply = json.loads(answer.data)
        if busy := reply.get("busy"):
            raise Busy(f"another order is under way: {busy}")
        if refusal := reply.get("refused"):
            raise InvalidInput(refusal)


async def read_outcome(
    values: SharedValues, task: Task = "rebuild", workspace: str = ""
) -> OrderOutcome | None:
    """Return what became of the last order of this task; of branches and figures in this workspace.
    Raises `Unavailable`.
    """
    value, _ = await values.read(_key(task, workspace))
    if not value:
        return None
    outcome: dict[str, Any] = json.loads(value)
    return OrderOutcome(OperatorOrder.of(outcome.pop("order")), **outcome)


async def write_outcome(values: SharedValues, outcome: OrderOutcome) -> None:
    """Note it in place of the one before. Raises `Unavailable`."""
    order = outcome.order
    key = _key(order.task, order.workspace)
    _, revision = await values.read(key)
    fields = {**asdict(outcome), "order": order.fields()}
    await values.write(key, json.dumps(fields).encode(), revision)


def _key(task: Task, workspace: str) -> str:
    key = KEY.format(task)
    return f"{key}.{subjects.token(workspace)}" if task in OF_WORKSPACE else key

"""The routes that tell an operator what is wrong, and how this service is set."""

import os
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from runtime.models.roles import RoleSettings
from runtime.settings import Settings
from runtime.shown_settings import shown_settings
from services.gateway.auth.settings import AccessSettings
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.scope import WholeDeployment
from services.gateway.settings import GatewaySettings, WebhookSettings
from services.query.questions.settings import QuestionClientSettings
from services.query.settings import QuerySettings

router = APIRouter()

GROUPS: dict[str, type[Settings]] = {
    "every service": Settings,
    "models of single roles": RoleSettings,
    "the query service": QuerySettings,
    "the gateway": GatewaySettings,
    "webhooks": WebhookSettings,
    "access to the API": AccessSettings,
}


OF_ANSWERS = ("models of single roles", "the query service")
"""Groups that only whoever answers questions reads."""


class FindingModel(BaseModel):
    """The result of one check. `todo` says what to do."""

    level: Literal["well", "note", "fault"]
    what: str
    todo: str


class Findings(BaseModel):
    """What is wrong; `healthy` without a fault."""

    healthy: bool
    findings: list[FindingModel]


class Setting(BaseModel):
    """One setting of this service. `source`: the variable it comes from, or `default`."""

    of: str
    names: tuple[str, ...]
    value: str = Field(description="`(set, not shown)` for a secret, `(none)` for an empty one")
    source: str
    meaning: str


class ShownSettings(BaseModel):
    """The settings that this service runs with."""

    settings: list[Setting]


@router.get("/doctor")
async def doctor(operations: OperationDeps, _: WholeDeployment) -> Findings:
    """Return what is wrong with the deployment, and what to do, as far as the bus tells.

    `lightstream doctor` also examines the machine, the processes and the stores of a data folder.
    """
    findings = [finding async for finding in operations.examine()]
    return Findings(
        healthy=all(finding.level != "fault" for finding in findings),
        findings=[
            FindingModel.model_validate(finding, from_attributes=True) for finding in findings
        ],
    )


@router.get("/settings")
async def settings(_: WholeDeployment) -> ShownSettings:
    """Return every setting that this service reads, with its value and where that comes from;
    secrets are hidden.

    Other services may be set otherwise; `lightstream config` shows the settings of all.
    """
    shown_values = shown_settings(_groups(), os.environ, {}, "")
    return ShownSettings(
        settings=[Setting.model_validate(setting, from_attributes=True) for setting in shown_values]
    )


def _groups() -> dict[str, type[Settings]]:
    """Return the groups of settings that this process reads."""
    if not QuestionClientSettings().questions_url:
        return GROUPS
    groups = {name: group for name, group in GROUPS.items() if name not in OF_ANSWERS}
    return {**groups, "the query service apart": QuestionClientSettings}

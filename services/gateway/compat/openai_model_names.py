"""Names of models as OpenAI's clients choose them: `lightstream`, `lightstream:walk`,
`lightstream:walk@workspace`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from services.gateway.auth.permissions import ALL_WORKSPACES
from services.gateway.compat.conversation import MODES
from services.query.question import Mode

NAME = "lightstream"


@dataclass(frozen=True)
class Model:
    """A mode and a workspace.

    None is the mode that the server has for questions without one; "" the workspace that the
    request names otherwise.
    """

    mode: Mode | None
    workspace: str = ""

    @property
    def id(self) -> str:
        """Return the full name."""
        mode = f":{self.mode}" if self.mode else ""
        return NAME + mode + (f"@{self.workspace}" if self.workspace else "")


def parse_model(id: str) -> Model | None:
    """Return the model of that name, None for an unknown one."""
    name, at, workspace = id.partition("@")
    name, colon, mode = name.partition(":")
    if name != NAME or (at and not workspace):
        return None
    if colon and mode not in MODES:
        return None
    return Model(MODES[mode] if colon else None, workspace)


def models_of(workspaces: Iterable[str]) -> list[Model]:
    """Return a model for every mode in each of the workspaces."""
    return [Model(mode, workspace) for workspace in workspaces for mode in MODES.values()]


def available_models(workspaces: frozenset[str], default: str | None) -> list[Model]:
    """Return the models for credentials that are bound to these workspaces.

    `default`: the workspace of a request that names none, None when every request must name one.
    """
    choices = (
        sorted(workspaces - {ALL_WORKSPACES}) if len(workspaces) > 1 or default is None else []
    )
    return models_of([*([] if default is None else [""]), *choices])

"""The routes about models: which are in use, whether they answer, and whether others would."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from runtime.errors import ServiceError
from runtime.models.roles import Role
from services.gateway.auth.audit import note_details
from services.gateway.dependencies import depends_on
from services.gateway.operations.model_candidates import BINDINGS, Candidate, Part
from services.gateway.operations.model_trials import ModelInUse, Models, models_in_use
from services.gateway.operations.scope import WholeDeployment
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel

if TYPE_CHECKING:
    from runtime.models.trial import Trial

router = APIRouter()

ModelDeps = Annotated[Models, depends_on(Models)]


class UsedModel(BaseModel):
    """A model in use. Its key is never shown."""

    part: Part
    roles: Sequence[Role] = Field(description="of a language model: what it is asked for")
    binding: str
    address: str = Field(description="without an account; empty: the binding's own, or none")
    model: str
    has_key: bool

    @classmethod
    def of(cls, model: ModelInUse) -> "UsedModel":
        """Return it as the API shows it."""
        return cls(**vars(model))


class UsedModels(BaseModel):
    """The models in use, and what others may be."""

    are_here: bool = Field(description="false: another process asks models")
    models: list[UsedModel]
    bindings: Mapping[Part, Sequence[str]]
    settings_file: str | None = Field(
        description="into which a model is written that is saved; null: there is none here"
    )


class ModelToTest(StrictModel):
    """A model in use, by its part and role, or a candidate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"part": "language"}]})

    part: Part = "language"
    role: Role | None = None
    candidate: Candidate | None = None


class ModelTested(BaseModel):
    """What a model did when it was asked one thing."""

    works: bool
    model: str
    result: str = Field(description="the beginning of its answer, or why there is none")
    seconds: float

    @classmethod
    def of(cls, trial: "Trial | None") -> "ModelTested":
        """Return what a trial showed."""
        if trial is None:
            return cls(works=False, model="", result="no model is set", seconds=0)
        return cls(works=True, **vars(trial))


class ModelSaved(BaseModel):
    """A model that works and stands in the settings file; it is used after the next start."""

    file: str
    variables: Sequence[str] = Field(description="their names")
    overridden: Sequence[str] = Field(
        description="which the environment sets too, and that counts before the file"
    )
    result: str


@router.get("/models")
async def show_models(models: ModelDeps, _: WholeDeployment) -> UsedModels:
    """Return the language models, the embedder and the reranker that this process asks. Other
    services may be set otherwise.
    """
    models_here = models_in_use(models.settings) if models.settings else []
    return UsedModels(
        are_here=models.settings is not None,
        models=[UsedModel.of(model) for model in models_here],
        bindings=BINDINGS,
        settings_file=str(models.settings_file) if models.settings_file else None,
    )


@router.post("/models/test")
async def try_model(
    request: Request, body: ModelToTest, models: ModelDeps, _: WholeDeployment
) -> ModelTested:
    """Ask a model in use, or a candidate, one thing: a word, the vector of a sentence, or the order
    of two texts. It is one call, which is paid for.

    A candidate's address is public and https, that of a model in use, or in
    MODEL_ALLOWED_NETWORKS; no other is asked.
    """
    candidate = body.candidate
    note_details(request, part=candidate.part if candidate else body.part)
    try:
        if candidate is None:
            return ModelTested.of(await models.try_in_use(body.part, body.role))
        trial, _dimension = await models.try_candidate(candidate)
    except ServiceError as error:
        name = candidate.model if candidate else ""
        return ModelTested(works=False, model=name, result=str(error), seconds=0)
    return ModelTested.of(trial)


@router.put("/models", responses=error_responses(400))
async def save_model(
    request: Request, body: Candidate, models: ModelDeps, _: WholeDeployment
) -> ModelSaved:
    """Try a candidate, and write it into the settings file that `lightstream up` reads; nothing is
    written when it does not answer. The next start uses it.
    """
    note_details(request, part=body.part, binding=body.binding, model=body.model)
    result = await models.save(body)
    return ModelSaved(
        file=str(result.file),
        variables=result.variables,
        overridden=result.overridden,
        result=result.trial.result,
    )

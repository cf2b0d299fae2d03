"""What all models of requests have in common."""

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field


class StrictModel(BaseModel):
    """A value has the type that is described and is not turned into it: `"1"` is no number, `0` is not false.

    Fields that are not known are ignored, as LightRAG's clients rely on.
    """

    model_config = ConfigDict(strict=True)


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("give a date and time in a text, with its time zone")
    return value


Timestamp = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_text)]
"""A date and time; JSON has no type for it."""

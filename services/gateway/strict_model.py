"""The base class of all request models, and types of their fields."""

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field


class StrictModel(BaseModel):
    """A model that converts no values: `"1"` is not a number, `0` is not false.

    Unknown fields are ignored, as LightRAG's clients rely on.
    """

    model_config = ConfigDict(strict=True)


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("give a date and time in a text, with its time zone")
    return value


Timestamp = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_text)]
"""A date and time; JSON has no type for it."""

Name = Annotated[str, Field(max_length=1024)]
"""A name that is looked up. The limit also has it refused with a lone surrogate, which a plain
`str` may have.
"""

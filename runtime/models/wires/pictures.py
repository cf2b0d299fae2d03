"""Pictures among the parts of a message: OpenAI's `image_url` with the bytes in the address, which
other wires translate from.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from runtime.models.json_values import as_dict
from runtime.models.port import Picture
from runtime.models.wires.fields import objects


class InlinePicture(NamedTuple):
    """The type of a picture, as `image/png`, and its bytes in base64."""

    media_type: str
    base64: str

    @property
    def format(self) -> str:
        """Return the last part of the type: `png`."""
        return self.media_type.rpartition("/")[2]


def content_of(text: str, pictures: Sequence[Picture]) -> str | list[dict[str, Any]]:
    """Return the content of a message in OpenAI's form: its text, behind its pictures if it has
    any.
    """
    if not pictures:
        return text
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": _address(picture)}} for picture in pictures
    ]
    return [*parts, {"type": "text", "text": text}]


def text_and_pictures(turn: Mapping[str, Any]) -> tuple[str, list[InlinePicture]]:
    """Return the text and the pictures of a message in OpenAI's form."""
    content = turn["content"]
    if isinstance(content, str):
        return content, []
    parts = objects(content)
    texts = [str(part["text"]) for part in parts if part.get("type") == "text"]
    addresses = [as_dict(part.get("image_url")).get("url") for part in parts]
    return "\n".join(texts), [_inline(address) for address in addresses if address]


def parts_of(
    turn: Mapping[str, Any],
    text_part: Callable[[str], dict[str, Any]],
    picture_part: Callable[[InlinePicture], dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return the parts of a message in another provider's form: its pictures, then its text."""
    text, pictures = text_and_pictures(turn)
    return [*map(picture_part, pictures), text_part(text)]


def _address(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"


def _inline(address: str) -> InlinePicture:
    head, _, data = address.removeprefix("data:").partition(",")
    return InlinePicture(head.removesuffix(";base64"), data)

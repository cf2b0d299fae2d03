"""What a misbehaving answer says: marker words by what they make of a good message."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.misbehaving_provider.good_answers import description, names
from tests.support.misbehaving_provider.prompts import Prompt

SECRET = "SECRET REASONING"
"""Stands in all reasoning; a reader, the graph and the caches never meet it."""

REASONING = f"The user wants a name. The second passage [2] says {SECRET}, but no."
GHOST = "Ghost Draft"
"""An entity of drafts that the model gave up."""


@dataclass(frozen=True)
class Message:
    """The assistant's message. `content` is a text, a list of parts or None; `fields` stand beside
    it.
    """

    content: Any
    finish_reason: str | None = "stop"
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    choice_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


Change = Callable[[Prompt, Message], Message]


def _text(wrap: Callable[[str], Any]) -> Change:
    """Change the text alone."""
    return lambda prompt, message: replace(message, content=wrap(message.content))


def _tagged(name: str) -> Change:
    return _text(lambda text: f"<{name}>\n{REASONING}\n</{name}>\n\n{text}")


def _parts(prompt: Prompt, message: Message) -> Message:
    """Mistral's reasoning models."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": REASONING}]}
    return replace(message, content=[thinking, {"type": "text", "text": message.content}])


def _text_parts(prompt: Prompt, message: Message) -> Message:
    half = len(message.content) // 2
    halves = (message.content[:half], message.content[half:])
    return replace(message, content=[{"type": "text", "text": text} for text in halves])


def _harmony(prompt: Prompt, message: Message) -> Message:
    """gpt-oss behind a server that does not read its channels."""
    draft = f"We draft.\nentity<|#|>{GHOST}<|#|>Person<|#|>A draft that was given up [2]. {SECRET}"
    analysis = f"<|channel|>analysis<|message|>{draft}\n<|end|>"
    return replace(
        message,
        content=f"{analysis}<|start|>assistant<|channel|>final<|message|>{message.content}",
    )


def _draft_think(prompt: Prompt, message: Message) -> Message:
    draft = f"entity<|#|>{GHOST}<|#|>Person<|#|>{SECRET}"
    return replace(message, content=f"<think>\n{draft}\n</think>\n{message.content}")


def _middle_think(prompt: Prompt, message: Message) -> Message:
    first, _, remainder = message.content.partition("\n" if "\n" in message.content else ". ")
    return replace(message, content=f"{first}\n<think>{REASONING}</think>\n{remainder}")


def _cut(reason: str | None, **choice_fields: Any) -> Change:
    def cut(prompt: Prompt, message: Message) -> Message:
        half = message.content[: len(message.content) // 2]
        return Message(half, reason, message.fields, choice_fields)

    return cut


def _ending(reason: str) -> Change:
    return lambda prompt, message: replace(message, finish_reason=reason)


def _null(field_name: str) -> Change:
    return lambda prompt, message: replace(message, content=None, fields={field_name: REASONING})


def _apart(field_name: str) -> Change:
    return lambda prompt, message: replace(message, fields={field_name: REASONING})


def _unclosed_think(prompt: Prompt, message: Message) -> Message:
    return replace(message, content=f"<think>\n{REASONING} And so on", finish_reason="length")


EVERY_TASK: Mapping[str, Change] = {
    "ZZNULL": _null("reasoning_content"),
    "ZZNULLREASONING": _null("reasoning"),
    "ZZEMPTY": _text(lambda text: ""),
    "ZZBLANK": _text(lambda text: " \n "),
    "ZZPARTS": _parts,
    "ZZTEXTPARTS": _text_parts,
    "ZZTHINK": _tagged("think"),
    "ZZTHINKING": _tagged("thinking"),
    "ZZTHOUGHT": _tagged("thought"),
    "ZZREASONING": _tagged("reasoning"),
    "ZZSEEDTHINK": _tagged("seed:think"),
    "ZZTHINKDRAFT": _draft_think,
    "ZZTHINKMIDDLE": _middle_think,
    # Templates that write the opening tag themselves leave only the closing one to the model.
    "ZZTHINKTAIL": _text(lambda text: f"{REASONING}\n</think>\n\n{text}"),
    "ZZTHINKOPEN": _unclosed_think,
    "ZZREASONINGCONTENT": _apart("reasoning_content"),
    "ZZREASONINGFIELD": _apart("reasoning"),
    "ZZHARMONY": _harmony,
    "ZZCUT": _cut("length"),
    "ZZCUTMAXTOKENS": _cut("max_tokens"),
    "ZZCUTUPPER": _cut("MAX_TOKENS"),
    "ZZCUTMODEL": _cut("model_length"),
    "ZZCUTNATIVE": _cut("stop", native_finish_reason="MAX_TOKENS"),
    "ZZEOS": _ending("eos_token"),
    "ZZFILTERED": _ending("content_filter"),
    # Gemini's compatible endpoint
    "ZZPROHIBITED": lambda prompt, message: Message(None, "content_filter: PROHIBITED_CONTENT"),
    "ZZREFUSES": lambda prompt, message: Message(
        None, "stop", {"refusal": "I cannot help with that."}
    ),
}
"""What happens to answers of every task."""


def _prose(prompt: Prompt, message: Message) -> Message:
    prose = (
        "Here is a summary of the passage: several people keep a harbour, and they work together."
    )
    return replace(message, content=prose)


def _json(prompt: Prompt, message: Message) -> Message:
    entities = [
        {"name": name, "type": "Person", "description": description(name, prompt.subject)}
        for name in names(prompt.subject)
    ]
    graph = json.dumps({"entities": entities, "relationships": []}, ensure_ascii=False)
    return replace(message, content=f"```json\n{graph}\n```")


def _lists(prompt: Prompt, message: Message) -> Message:
    """A bare list of objects, with the names of fields that other systems ask for."""
    entities = [
        {"entity_name": name, "entity_type": "Person", "entity_description": f"{name} is named."}
        for name in names(prompt.subject)
    ]
    return replace(message, content=json.dumps(entities, ensure_ascii=False))


def _table(prompt: Prompt, message: Message) -> Message:
    head = "| kind | name | type | description |\n|---|---|---|---|"
    lines = [f"| entity | {name} | Person | {name} is named. |" for name in names(prompt.subject)]
    return replace(message, content="\n".join([head, *lines]))


def _numbered(prompt: Prompt, message: Message) -> Message:
    lines = [f"{number}. {line}" for number, line in enumerate(message.content.splitlines(), 1)]
    return replace(message, content="\n".join(lines))


def _bullets(prompt: Prompt, message: Message) -> Message:
    lines = [f"- **{line}**" for line in message.content.splitlines()]
    return replace(message, content="Sure! Here are the rows:\n\n" + "\n".join(lines))


EXTRACTION: Mapping[str, Change] = {
    "ZZPROSE": _prose,
    "ZZJSON": _json,
    "ZZLISTS": _lists,
    "ZZTABLE": _table,
    "ZZNUMBERED": _numbered,
    "ZZBULLETS": _bullets,
    "ZZNOROWS": lambda prompt, message: replace(message, content="<|COMPLETE|>"),
    "ZZALWAYSCUT": lambda prompt, message: Message("entity<|#|>Ada", "length"),
}
"""What happens to rows alone."""


def misbehaved(prompt: Prompt, message: Message) -> Message:
    """Return the message as the prompt's markers make it."""
    changes = {**EVERY_TASK, **(EXTRACTION if prompt.task in ("extract", "glean") else {})}
    for marker in sorted(prompt.markers & changes.keys()):
        message = changes[marker](prompt, message)
    return message

"""What an installation can configure about extraction: entity types, examples of answers,
limits.
"""

from dataclasses import dataclass

DELIMITER = "<|#|>"
COMPLETION_MARK = "<|COMPLETE|>"

ENTITY_TYPES = {
    "Person": "a human being, real or invented",
    "Creature": "any other living being, mythical ones included",
    "Organization": "a company, institution, public body or group",
    "Location": "a geographic place or a building",
    "Event": "something that happens: a meeting, an incident, a season",
    "Concept": "an abstract idea, theory or belief",
    "Method": "a procedure, technique or algorithm",
    "Content": "a work such as a book, an article or a film",
    "Data": "a figure, a statistic, a data set",
    "Artifact": "a thing made by people, software included",
    "NaturalObject": "a natural thing that does not live",
    "Other": "whatever fits nowhere else",
}

_SHIPS = f"""Passage: In 1887 the Harbour Office of Port Elm began to register every ship. Its first clerk, Ada \
Marlow, wrote the Elm Rules, which Norvik adopted too.
entity{DELIMITER}Harbour Office{DELIMITER}Organization{DELIMITER}The Harbour Office of Port Elm has registered ships \
since 1887.
entity{DELIMITER}Ada Marlow{DELIMITER}Person{DELIMITER}Ada Marlow was the first clerk of the Harbour Office and wrote \
the Elm Rules.
entity{DELIMITER}Elm Rules{DELIMITER}Content{DELIMITER}The Elm Rules are rules written by Ada Marlow and adopted by \
Norvik.
entity{DELIMITER}Port Elm{DELIMITER}Location{DELIMITER}Port Elm is the town of the Harbour Office.
entity{DELIMITER}Norvik{DELIMITER}Location{DELIMITER}Norvik is a town that adopted the Elm Rules.
relation{DELIMITER}Ada Marlow{DELIMITER}Elm Rules{DELIMITER}authorship{DELIMITER}Ada Marlow wrote the Elm Rules.
relation{DELIMITER}Ada Marlow{DELIMITER}Harbour Office{DELIMITER}employment{DELIMITER}Ada Marlow was the first clerk \
of the Harbour Office.
relation{DELIMITER}Harbour Office{DELIMITER}Port Elm{DELIMITER}administration, location{DELIMITER}The Harbour Office \
registers the ships of Port Elm.
relation{DELIMITER}Norvik{DELIMITER}Elm Rules{DELIMITER}adoption{DELIMITER}Norvik adopted the Elm Rules.
{COMPLETION_MARK}"""

_SHIPS_JSON = """Passage: In 1887 the Harbour Office of Port Elm began to register every ship. Its first clerk was Ada \
Marlow.
{"entities": [
{"name": "Harbour Office", "type": "Organization", "description": "The Harbour Office of Port Elm has registered ships \
since 1887."},
{"name": "Ada Marlow", "type": "Person", "description": "Ada Marlow was the first clerk of the Harbour Office."},
{"name": "Port Elm", "type": "Location", "description": "Port Elm is the town of the Harbour Office."}],
"relationships": [
{"source": "Ada Marlow", "target": "Harbour Office", "keywords": "employment", "description": "Ada Marlow was the \
first clerk of the Harbour Office."},
{"source": "Harbour Office", "target": "Port Elm", "keywords": "administration, location", "description": "The Harbour \
Office registers the ships of Port Elm."}]}"""


def type_lines(types: dict[str, str]) -> str:
    """Return the types with their meanings, one a line, for the prompt."""
    return "\n".join(
        f"    {name}: {meaning}" if meaning else f"    {name}" for name, meaning in types.items()
    )


@dataclass(frozen=True)
class Guidance:
    """Entity types as lines of the prompt, and examples: in rows for `examples`, in JSON for
    `json_examples`.
    """

    types: str = type_lines(ENTITY_TYPES)
    examples: tuple[str, ...] = (_SHIPS,)
    json_examples: tuple[str, ...] = (_SHIPS_JSON,)


@dataclass(frozen=True)
class ExtractionConfig:
    """Everything besides model and passage that affects the result of an extraction.

    `gleaning`: rounds in which the model is asked for what it missed; more than 1 counts as 1.
    `max_input_tokens`: tokens that the conversation of such a round may have; a longer round is
    skipped. `max_records`: rows read from one answer; `max_entities`: entities among them.
    `instructions`: what a model is told in place of our own instructions, with their placeholders.
    """

    language: str = "English"
    json: bool = False
    gleaning: int = 1
    max_input_tokens: int = 20480
    max_records: int = 100
    max_entities: int = 40
    guidance: Guidance = Guidance()
    instructions: str = ""


DEFAULT = ExtractionConfig()
"""The configuration of a new installation."""

"""The entity types and examples that an installation or a branch sets in a YAML file, as the prompt
has them.

`{tuple_delimiter}` and `{completion_delimiter}` in an example stand for the marks of the row
format.
"""

from pathlib import Path

from runtime.errors import ConfigurationError
from runtime.extraction_guidance import GuidanceFile
from runtime.extraction_guidance import parse_guidance as parse_file
from services.extractor.domain.guidance import COMPLETION_MARK, DELIMITER, Guidance, type_lines

VARIABLE = "ENTITY_TYPE_PROMPT_FILE"


def read_guidance(path: str) -> Guidance:
    """Return the guidance in the file, with defaults for missing keys. A `ConfigurationError` names
    file and line.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{VARIABLE}: {path} cannot be read: {error.strerror}") from error
    return parse_guidance(content, f"{VARIABLE}: {path}")


def parse_guidance(content: bytes, name: str) -> Guidance:
    """Return the guidance in the bytes of such a file, as `read_guidance` does. Errors begin with
    `name`.
    """
    return _guidance(parse_file(content, name))


def _guidance(file: GuidanceFile) -> Guidance:
    defaults = Guidance()
    types = file.types if isinstance(file.types, str) else type_lines(dict(file.types or {}))
    return Guidance(
        types=types or defaults.types,
        examples=defaults.examples
        if file.examples is None
        else tuple(map(_with_marks, file.examples)),
        json_examples=defaults.json_examples if file.json_examples is None else file.json_examples,
    )


def _with_marks(example: str) -> str:
    text = example.replace("{tuple_delimiter}", DELIMITER)
    return text.replace("{completion_delimiter}", COMPLETION_MARK)

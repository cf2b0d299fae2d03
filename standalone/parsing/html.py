"""HTML to Markdown: headings, lists and tables stay; scripts, styles and pictures go."""

from html_to_markdown import ConversionOptions, convert
from html_to_markdown.exceptions import ConversionError

from runtime.errors import InvalidInput


def markdown(source: str) -> str:
    """The page's text. Raises InvalidInput when it cannot be read."""
    try:
        return convert(source, ConversionOptions(extract_metadata=False, skip_images=True)).content or ""
    except ConversionError as error:
        raise InvalidInput(f"not readable as HTML: {error}") from None

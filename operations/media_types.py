"""Media types as suffixes of files, by which parsers are chosen."""

from runtime.parsing.kinds import KINDS

_SUFFIXES = {
    **{kind.media_type: suffix for suffix, kind in reversed(KINDS.items())},
    "application/xhtml+xml": ".html",
    "application/x-ndjson": ".jsonl",
    "text/xml": ".txt",
}


def suffix_of(media_type: str) -> str:
    """Return the suffix of a file of this media type; empty for one that is unknown."""
    return _SUFFIXES.get(media_type.partition(";")[0].strip().lower(), "")

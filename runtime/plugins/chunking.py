"""Has a chunker of a package cut a text, in a process with limits."""

import signal
from collections.abc import Sequence

import orjson

from contracts.chunking import OWN_CHUNKERS, STRATEGIES, Chunking
from runtime.errors import InvalidInput
from runtime.models.sentence_vectors import MISSING, has_sentence_vectors
from runtime.plugins.installed import plugin, plugins


def check_chunker(chunking: Chunking) -> None:
    """Raise ValueError with the strategies there are where no package has the chunker."""
    if chunking.chunker == "semantic" and not has_sentence_vectors():
        raise ValueError(MISSING)
    if chunking.chunker in (None, *OWN_CHUNKERS):
        return
    if chunking.chunker not in plugins("lightstream.chunkers"):
        names = ", ".join([*STRATEGIES, *sorted(plugins("lightstream.chunkers"))])
        raise ValueError(
            f"there is no strategy {chunking.chunker!r}, but {names}: choose one of these, or "
            "install the package that brings it"
        )


class InstalledChunkers:
    """The chunkers of installed packages; see `Chunkers` of the chunker's port."""

    def title(self, name: str) -> str:
        """Return what the chunker is and whose, for errors."""
        return plugin("lightstream.chunkers", name).title

    async def cut(self, name: str, text: str, size: int, overlap: int) -> Sequence[tuple[int, int]]:
        """Return the offsets at which its chunks of the text begin and end.

        Raises InvalidInput with the package's name for an error of it and for a limit that is
        reached, `Unavailable` when the machine starts no process.
        """
        # Processes of their own are loaded by who has a plugin.
        from runtime.parsing.sandbox import MAX_SECONDS, run_apart  # noqa: PLC0415

        title = self.title(name)
        arguments = ["-m", "runtime.plugins.chunking_child", name, str(size), str(overlap)]
        try:
            code, output = await run_apart(arguments, text.encode())
        except TimeoutError:
            raise InvalidInput(
                f"{title} takes more than {MAX_SECONDS:.0f} s: split the document"
            ) from None
        return _offsets(title, code, output)


def _offsets(title: str, code: int | None, output: bytes) -> Sequence[tuple[int, int]]:
    """Read the exit code and the output of the child."""
    from runtime.parsing.child import REFUSED  # noqa: PLC0415
    from runtime.parsing.limits import PARSING  # noqa: PLC0415
    from runtime.parsing.sandbox import MAX_OUTPUT  # noqa: PLC0415

    if len(output) > MAX_OUTPUT:
        raise InvalidInput(f"{title} gives too many chunks")
    if code == 0:
        return orjson.loads(output)
    if code == REFUSED:
        raise InvalidInput(output.decode("utf-8", "replace"))
    if code == -signal.SIGXCPU:
        raise InvalidInput(f"{title} takes more than {PARSING.cpu} s: split the document")
    raise InvalidInput(f"{title} crashes, or takes more than {PARSING.megabytes} MB")

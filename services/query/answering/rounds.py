"""What a question with more than low effort did, round by round."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from services.query.question import Question
from services.query.retrieval.results import RetrievalResult


@dataclass(frozen=True)
class Step:
    """A tool that the model used."""

    tool: str
    arguments: str
    """As people read them."""
    passages: int = 0
    """Passages that the model read in it."""
    error: str = ""
    """Why it found nothing, where the model called it wrongly."""


@dataclass(frozen=True)
class Round:
    """One round. `ended` says why no other one followed, or is empty."""

    searches: Sequence[str]
    """What was searched for, or which tools were used with what."""
    missing: str = ""
    """What the model said was missing."""
    new_passages: int = 0
    """Passages that it brought."""
    tokens: int = 0
    """Tokens that the model read and wrote for it."""
    ended: str = ""
    steps: Sequence[Step] = ()


def with_rounds(
    retrieval: RetrievalResult, question: Question, rounds: Sequence[Round]
) -> RetrievalResult:
    """Return the result with the rounds listed in `info`."""
    return replace(
        retrieval,
        info={
            **retrieval.info,
            "effort": question.effort,
            "rounds": [asdict(search_round) for search_round in rounds],
        },
    )


def with_end(rounds: Sequence[Round], reason: str) -> list[Round]:
    """Return the rounds, of which the last ended for this reason."""
    return [*rounds[:-1], replace(rounds[-1], ended=reason)] if rounds else []

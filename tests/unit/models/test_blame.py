"""How failures of texts are counted, and when the control is asked."""

from runtime.errors import ModelRefused, RateLimited, ServiceError, TextFailure, Unavailable
from runtime.models.blame import WELL, Blame
from runtime.models.call_scope import calls_for
from runtime.models.failures import NEVER, WAIT_TRIES, Failure, Sender
from runtime.models.provider_errors import ProviderError

SENDER = Sender("host", "LLM")


class Control:
    """A provider's answers to the control, and how often it was asked."""

    def __init__(self) -> None:
        self.answers, self.asked, self.now = True, 0, 100.0

    async def ask(self) -> bool:
        self.asked += 1
        return self.answers


def failure(tries: int = 3) -> Failure:
    return Failure(Unavailable("down"), ModelRefused("never", "text"), tries)


async def judged(blame: Blame, control: Control, error: Failure, text: str = "a") -> ServiceError:
    return await blame.judged(error, text, control.ask)


def kinds(errors: list[ServiceError]) -> list[type[ServiceError]]:
    return [type(error) for error in errors]


async def test_a_text_is_given_up_after_so_many_failures_and_then_counted_anew() -> None:
    control = Control()
    blame = Blame(lambda: control.now)
    errors = [await judged(blame, control, failure()) for _ in range(6)]
    assert kinds(errors) == [TextFailure, TextFailure, ModelRefused] * 2


async def test_an_answer_to_anybody_stands_for_the_control_for_a_while_but_not_in_the_end() -> None:
    control = Control()
    blame = Blame(lambda: control.now)
    blame.answered("b")
    for _ in range(2):
        await judged(blame, control, failure())
    assert control.asked == 0
    await judged(blame, control, failure())
    assert control.asked == 1
    control.now += WELL
    await judged(blame, control, failure())
    assert control.asked == 2


async def test_while_the_control_fails_the_provider_is_the_cause_and_nothing_is_counted() -> None:
    control = Control()
    control.answers = False
    blame = Blame(lambda: control.now)
    assert kinds([await judged(blame, control, failure()) for _ in range(9)]) == [Unavailable] * 9
    control.answers = True
    assert kinds([await judged(blame, control, failure()) for _ in range(3)])[-1] is ModelRefused


async def test_what_no_text_can_cause_asks_no_control() -> None:
    control = Control()
    blame = Blame(lambda: control.now)
    assert (
        kinds([await judged(blame, control, failure(NEVER)) for _ in range(9)]) == [Unavailable] * 9
    )
    assert control.asked == 0


async def test_the_same_text_of_another_workspace_is_counted_apart() -> None:
    control = Control()
    blame = Blame(lambda: control.now)
    for _ in range(2):
        with calls_for("a"):
            await judged(blame, control, failure())
    with calls_for("b"):
        assert isinstance(await judged(blame, control, failure()), TextFailure)
    with calls_for("a"):
        assert isinstance(await judged(blame, control, failure()), ModelRefused)


async def test_a_text_that_is_always_asked_to_wait_is_given_up_unless_it_is_said_how_long() -> None:
    control = Control()
    blame = Blame(lambda: control.now)
    error = ProviderError(429, "too many tokens a minute")
    endless = [await judged(blame, control, refused(error, None)) for _ in range(WAIT_TRIES)]
    assert kinds(endless) == [RateLimited] * (WAIT_TRIES - 1) + [ModelRefused]
    verdicts = [
        await judged(blame, control, refused(error, 7.0), "b") for _ in range(3 * WAIT_TRIES)
    ]
    assert kinds(verdicts) == [RateLimited] * 3 * WAIT_TRIES


def refused(error: ProviderError, retry_after: float | None) -> Failure:
    result = SENDER.refused(error, retry_after)
    assert isinstance(result, Failure)
    return result

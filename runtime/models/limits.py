"""What all replicas together may ask of one provider: pure rules over one state that they share.

Requests and tokens are counted over the last minute in thirty steps, so no minute, wherever it begins, holds more than
the limit. Calls at once are shares with a lease: a replica that is killed gives its share back by silence. A provider
that asks to wait, or fails again and again, is left alone until a moment that everybody sees.

Times are seconds since 1970 of the replicas' own clocks, which must agree within a second or two.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

LEASE = 10.0
"""Seconds after which a silent replica's share is given to others."""

FAILURES = 5
"""Failures one after the other that open the breaker."""

INTERVALS = (2.0, 5.0, 10.0, 20.0, 30.0)
"""Seconds between one probing call and the next, while they go on failing."""

PROBING, LOOK_AGAIN = 30.0, 2.0
"""Seconds that a probing call has the provider to itself, and after which others ask how it went."""

STEPS, BLOCKS = 30, 60
"""Parts of the window: a step is counted as one, a block is how long requests booked ahead may be used."""

UNLIMITED = 1 << 40


@dataclass(frozen=True)
class Limits:
    """Of one provider, for all replicas together. 0: none. `window` is a minute, in seconds."""

    requests: int = 0
    tokens: int = 0
    calls: int = 0
    window: float = 60.0

    def divided(self, replicas: int) -> "Limits":
        """The part of one of so many replicas that cannot hear each other: never less than one."""
        return replace(
            self,
            requests=_part(self.requests, replicas),
            tokens=_part(self.tokens, replicas),
            calls=_part(self.calls, replicas),
        )


class Share(BaseModel):
    """Calls at once of one replica: it holds `have`, has use for `want`, began its last one at `served`."""

    have: int = 0
    want: int = 0
    until: float = 0.0
    served: float = 0.0


class State(BaseModel):
    """Everything shared about one provider. `name` and `reason` are for people and hold no secrets."""

    model_config = ConfigDict(extra="ignore")

    name: str = ""
    booked: dict[int, tuple[int, int]] = {}
    """Step of time → requests and tokens booked in it."""
    shares: dict[str, Share] = {}
    failures: int = 0
    trips: int = 0
    """Times the breaker opened, or stayed open, since the provider answered last."""
    until: float = 0.0
    """Nobody calls before."""
    since: float = 0.0
    reason: str = ""
    probing: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the breaker is open: only a probing call may find out whether the provider is back."""
        return self.failures >= FAILURES


@dataclass(frozen=True)
class Block:
    """Requests and tokens that one replica may use until `until`."""

    step: int
    requests: int
    tokens: int
    until: float


@dataclass(frozen=True)
class Need:
    """What a replica asks for: calls that run and that wait, the tokens of the next one, when the last one began."""

    running: int = 0
    waiting: int = 0
    tokens: int = 0
    served: float = 0.0


def share(state: State, me: str, calls: int, need: Need, now: float) -> int:
    """Renew this replica's lease and return how many calls it may have at once; those that run are never cut off."""
    for name in [name for name, one in state.shares.items() if one.until <= now and name != me]:
        del state.shares[name]
    if not need.running and not need.waiting:
        state.shares.pop(me, None)
        return 0
    mine = state.shares.setdefault(me, Share())
    # Only what matters to others is written: a state that stays as it is costs no write.
    mine.want = min(need.running + need.waiting, calls or 1)
    mine.served = need.served if len(state.shares) > calls else 0.0
    if mine.until - now < LEASE / 2:
        mine.until = now + LEASE
    if not calls:
        return UNLIMITED
    fair = divided(calls, state.shares)[me]
    free = calls - sum(one.have for name, one in state.shares.items() if name != me)
    mine.have = max(need.running, min(fair, free))
    return min(fair, mine.have)


def divided(calls: int, shares: Mapping[str, Share]) -> dict[str, int]:
    """Max-min fair: one to each in turn, until everybody has enough or none is left.

    Where there are more replicas than calls, those that waited longest come first.
    """
    scarce = len(shares) > calls
    order = sorted(shares, key=lambda name: (shares[name].served if scarce else 0.0, name))
    given = dict.fromkeys(order, 0)
    left = calls
    while left and (hungry := [name for name in order if given[name] < shares[name].want]):
        for name in hungry[:left]:
            given[name] += 1
        left -= min(left, len(hungry))
    return given


def book(state: State, limits: Limits, need: Need, now: float) -> Block | None:
    """Requests and tokens for the next moment: enough for what waits, and this replica's part of a block.

    None when even one call would be too many now. A call with more tokens than the limit takes a whole minute's.
    """
    length = limits.window / STEPS
    block = limits.window / BLOCKS
    step = step_at(limits, now)
    # A step longer than the block may be used: a request may take longer to the provider than the one before it.
    for old in [one for one in state.booked if (one + 2) * length + block + limits.window <= now]:
        del state.booked[old]
    requests = _free(limits.requests, sum(used for used, _ in state.booked.values()))
    tokens = _free(limits.tokens, sum(used for _, used in state.booked.values()))
    least = min(need.tokens, limits.tokens or need.tokens)
    if requests < 1 or tokens < least:
        return None
    replicas = max(1, len(state.shares))
    most = max(need.waiting, limits.requests // BLOCKS // replicas, 1)
    requests, tokens = min(requests, most), min(tokens, max(least * most, limits.tokens // BLOCKS // replicas))
    _add(state, step, requests, tokens)
    return Block(step, requests, tokens, now + block)


def give_back(state: State, block: Block) -> None:
    """Take what was left of a block off the books."""
    if block.step in state.booked:
        _add(state, block.step, -block.requests, -block.tokens)


def settle(state: State, corrections: Mapping[int, int]) -> None:
    """Step → tokens that calls cost beyond (or, negative, below) what was booked for them."""
    for step, tokens in corrections.items():
        if tokens > 0 or step in state.booked:
            _add(state, step, 0, tokens)


def step_at(limits: Limits, now: float) -> int:
    """The step of time that is counted as one."""
    return int(now / (limits.window / STEPS))


def left(state: State, now: float) -> float:
    """Seconds for which nobody may call; while another replica probes, those until it may have an answer."""
    rest = max(0.0, state.until - now)
    return min(rest, LOOK_AGAIN) if state.probing else rest


def probe(state: State, now: float) -> bool:
    """Whether this replica's next call is the probing one; everybody else goes on waiting."""
    if not state.is_open or now < state.until:
        return False
    state.until, state.probing = now + PROBING, True
    return True


def failed(state: State, reason: str, retry_after: float | None, *, probing: bool, now: float) -> bool:
    """Note that a call failed. True when that is what made the provider pause.

    Calls that were under way when the breaker opened do not lengthen the pause, but for a Retry-After of theirs.
    """
    paused = state.until > now and not state.probing
    if probing or not state.is_open:
        state.failures += 1
        state.probing = False
        if state.is_open:
            interval = INTERVALS[min(state.trips, len(INTERVALS) - 1)]
            state.trips, state.until = state.trips + 1, now + interval
    state.until = max(state.until, now + (retry_after or 0.0))
    if state.until <= now:
        return False
    state.reason, state.since = reason, state.since or now
    return not paused


def answered(state: State, *, probing: bool, now: float) -> None:
    """The provider answered: close the breaker. A wait that it asked another call for still stands."""
    state.failures, state.trips = 0, 0
    if probing or state.until <= now:
        state.until, state.since, state.reason, state.probing = 0.0, 0.0, "", False


def told(state: State, now: float) -> str | None:
    """What to tell people while the provider is left alone: why, since when, and when it is called again."""
    rest = state.until - now
    if rest <= 0 and not state.is_open:
        return None
    since = datetime.fromtimestamp(state.since, UTC).isoformat(timespec="seconds")
    plan = "a probing call is under way" if state.probing else f"called again in {max(rest, 0.0):.0f} s"
    return f"{state.name} is paused since {since}: {state.reason}; {plan}"


def apart(state: State, replicas: int) -> State:
    """What one of so many replicas goes by when it no longer hears the others: its part of what was booked."""
    booked = {step: (-(-r // replicas), -(-t // replicas)) for step, (r, t) in state.booked.items()}
    return state.model_copy(deep=True, update={"shares": {}, "booked": booked})


def _part(limit: int, replicas: int) -> int:
    return max(1, limit // max(1, replicas)) if limit else 0


def _free(limit: int, used: int) -> int:
    return limit - used if limit else UNLIMITED


def _add(state: State, step: int, requests: int, tokens: int) -> None:
    before = state.booked.get(step, (0, 0))
    state.booked[step] = (max(0, before[0] + requests), max(0, before[1] + tokens))

"""Rate limits and circuit breaker of one provider, shared by all replicas: pure functions over one
shared state.

Requests and tokens are counted over the last minute in thirty steps, so no minute, wherever it
begins, holds more than the limit. Each replica leases its part of the concurrent calls: the lease
of a replica that is killed expires. A provider that asks to wait, or fails repeatedly, is called by
no replica until a time in the shared state.

Times are seconds since 1970 of the replicas' own clocks, which must agree within a second or two. A
time further ahead than any may be was written before a clock was set back, and is cut
(`cut_times`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

from contracts.values import TokenUsage
from runtime.clock import TOLERANCE, legal_time

LEASE_DURATION = 10.0
"""Seconds after which the lease of a silent replica expires."""

FAILURES_TO_OPEN = 5
"""Consecutive failures that open the breaker."""

PROBE_INTERVALS = (1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0)
"""Seconds from each probing call to the next while they fail; the last one repeats.

Each is about a quarter of the time since the first failure: an outage is found to be over soon
after it is, and a long one is asked after seldom.
"""

PROBE_DURATION = 30.0
PROBE_RECHECK = 2.0
"""Seconds that a probing call has the provider to itself, and after which others read its
result.
"""

LONGEST_PAUSE = 3600.0
"""Seconds of the longest pause; a provider that asks for more is called sooner."""

WINDOW_STEPS = 30
WINDOW_RESERVATIONS = 60
"""Parts of the window: a step is counted as one moment; a reservation is valid for one of its
parts.
"""

UNLIMITED = 1 << 40


@dataclass
class Call:
    """One admitted call. Its caller sets `cost`, in tokens, and `usage`, if the provider reports
    them.
    """

    estimate: int
    step: int
    probing: bool = False
    cost: int | None = None
    usage: TokenUsage | None = None


@dataclass(frozen=True)
class Limits:
    """Requests and tokens per window of seconds, and concurrent calls, of all replicas together; 0:
    no limit.
    """

    requests: int = 0
    tokens: int = 0
    calls: int = 0
    window: float = 60.0

    def per_replica(self, replicas: int) -> "Limits":
        """Return the limits of one of so many replicas that cannot reach each other: never less
        than one.
        """
        return replace(
            self,
            requests=_part(self.requests, replicas),
            tokens=_part(self.tokens, replicas),
            calls=_part(self.calls, replicas),
        )


class Lease(BaseModel):
    """The concurrent calls of one replica: it holds `have`, could use `want`, and began its last
    call at `served`.
    """

    have: int = 0
    want: int = 0
    until: float = 0.0
    served: float = 0.0


class ProviderState(BaseModel):
    """Everything shared about one provider. `name` and `reason` are shown to people and hold no
    secrets.
    """

    model_config = ConfigDict(extra="ignore")

    name: str = ""
    booked: dict[int, tuple[int, int]] = {}
    """Requests and tokens reserved in each window step."""
    shares: dict[str, Lease] = {}
    failures: int = 0
    trips: int = 0
    """Times the breaker opened, or stayed open, since the last success."""
    until: float = 0.0
    """No replica calls before this time."""
    pause: float = LONGEST_PAUSE
    """Seconds that `until` was ahead when it was written: it is never further than that."""
    since: float = 0.0
    reason: str = ""
    probing: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether the breaker is open: only a probing call may reach the provider."""
        return self.failures >= FAILURES_TO_OPEN


@dataclass(frozen=True)
class Reservation:
    """Requests and tokens that one replica may use until `until`."""

    step: int
    requests: int
    tokens: int
    until: float


@dataclass(frozen=True)
class Demand:
    """What a replica asks for: running and waiting calls, the tokens of the next one, the start of
    the last one.
    """

    running: int = 0
    waiting: int = 0
    tokens: int = 0
    served: float = 0.0


def cut_times(state: ProviderState, now: float) -> None:
    """Bring times that lie further ahead than any may back to the furthest legal one.

    They come once the state is written so; in one that is only read they stay as far ahead as that.
    """
    state.until = legal_time(state.until, state.pause, now)
    state.since = legal_time(state.since, 0.0, now)
    for lease in state.shares.values():
        lease.until = legal_time(lease.until, LEASE_DURATION, now)


def renew_lease(state: ProviderState, me: str, calls: int, demand: Demand, now: float) -> int:
    """Renew this replica's lease and return its number of concurrent calls; running ones are never
    cut off.
    """
    for name in [name for name, lease in state.shares.items() if lease.until <= now and name != me]:
        del state.shares[name]
    if not demand.running and not demand.waiting:
        state.shares.pop(me, None)
        return 0
    mine = state.shares.setdefault(me, Lease())
    # Only what others need is changed: an unchanged state costs no write.
    mine.want = min(demand.running + demand.waiting, calls or 1)
    mine.served = demand.served if len(state.shares) > calls else 0.0
    if mine.until - now < LEASE_DURATION / 2:
        mine.until = now + LEASE_DURATION
    if not calls:
        return UNLIMITED
    fair = fair_shares(calls, state.shares)[me]
    free = calls - sum(lease.have for name, lease in state.shares.items() if name != me)
    mine.have = max(demand.running, min(fair, free))
    return min(fair, mine.have)


def fair_shares(calls: int, shares: Mapping[str, Lease]) -> dict[str, int]:
    """Return each replica's calls, max-min fair: one to each in turn, until all have enough or none
    is left.

    With more replicas than calls, those that waited longest come first.
    """
    scarce = len(shares) > calls
    order = sorted(shares, key=lambda name: (shares[name].served if scarce else 0.0, name))
    shares_given = dict.fromkeys(order, 0)
    calls_left = calls
    while calls_left and (
        unsatisfied_names := [name for name in order if shares_given[name] < shares[name].want]
    ):
        for name in unsatisfied_names[:calls_left]:
            shares_given[name] += 1
        calls_left -= min(calls_left, len(unsatisfied_names))
    return shares_given


def reserve(state: ProviderState, limits: Limits, demand: Demand, now: float) -> Reservation | None:
    """Reserve requests and tokens for the next moment, enough for the waiting calls; None if no
    call fits now.

    A call with more tokens than the limit takes those of a whole window.
    """
    length = limits.window / WINDOW_STEPS
    valid = limits.window / WINDOW_RESERVATIONS
    step = window_step(limits, now)
    _cut_steps(state, window_step(limits, now + TOLERANCE + length), step)
    # A step longer than a reservation is valid: a request may take longer to the provider than the
    # one before it.
    for old_step in [
        step for step in state.booked if (step + 2) * length + valid + limits.window <= now
    ]:
        del state.booked[old_step]
    requests = _free(limits.requests, sum(count for count, _ in state.booked.values()))
    tokens = _free(limits.tokens, sum(count for _, count in state.booked.values()))
    min_tokens = min(demand.tokens, limits.tokens or demand.tokens)
    if requests < 1 or tokens < min_tokens:
        return None
    replicas = max(1, len(state.shares))
    max_requests = max(demand.waiting, limits.requests // WINDOW_RESERVATIONS // replicas, 1)
    requests = min(requests, max_requests)
    tokens = min(
        tokens, max(min_tokens * max_requests, limits.tokens // WINDOW_RESERVATIONS // replicas)
    )
    _add(state, step, requests, tokens)
    return Reservation(step, requests, tokens, now + valid)


def release(state: ProviderState, reservation: Reservation) -> None:
    """Return the unused part of a reservation."""
    if reservation.step in state.booked:
        _add(state, reservation.step, -reservation.requests, -reservation.tokens)


def reconcile(state: ProviderState, corrections: Mapping[int, int]) -> None:
    """Correct reserved tokens to actual ones; `corrections`: actual less estimated tokens by window
    step.
    """
    for step, tokens in corrections.items():
        if tokens > 0 or step in state.booked:
            _add(state, step, 0, tokens)


def window_step(limits: Limits, now: float) -> int:
    """Return the number of the window step that holds this time."""
    return int(now / (limits.window / WINDOW_STEPS))


def seconds_paused(state: ProviderState, now: float) -> float:
    """Return the seconds until calls are allowed; while another replica probes, those until its
    result may be there.
    """
    seconds_left = max(0.0, state.until - now)
    return min(seconds_left, PROBE_RECHECK) if state.probing else seconds_left


def start_probe(state: ProviderState, now: float) -> bool:
    """Claim the probing call for this replica; False while calls are paused or the breaker is
    closed.
    """
    if not state.is_open or now < state.until:
        return False
    state.until, state.pause, state.probing = now + PROBE_DURATION, PROBE_DURATION, True
    return True


def record_failure(
    state: ProviderState, reason: str, retry_after: float | None, *, probing: bool, now: float
) -> bool:
    """Record a failed call, and return whether it paused the provider.

    Calls under way when the breaker opened lengthen the pause only by their Retry-After.
    """
    is_paused = state.until > now and not state.probing
    if probing or not state.is_open:
        state.failures += 1
        state.probing = False
        if state.is_open:
            interval = PROBE_INTERVALS[min(state.trips, len(PROBE_INTERVALS) - 1)]
            state.trips, state.until = state.trips + 1, now + interval
    state.until = max(state.until, now + min(retry_after or 0.0, LONGEST_PAUSE))
    if state.until <= now:
        return False
    state.pause = state.until - now
    state.reason, state.since = reason, state.since or now
    return not is_paused


def record_success(state: ProviderState, *, probing: bool, now: float) -> None:
    """Record a success: close the breaker. A Retry-After of another call remains in force."""
    state.failures, state.trips = 0, 0
    if probing or state.until <= now:
        state.until, state.since, state.reason, state.probing = 0.0, 0.0, "", False


def pause_notice(state: ProviderState, now: float) -> str | None:
    """Return a sentence for people while the provider is paused: why, since when, next call; else
    None.
    """
    seconds_left = state.until - now
    if seconds_left <= 0 and not state.is_open:
        return None
    since = datetime.fromtimestamp(state.since, UTC).isoformat(timespec="seconds")
    plan = (
        "a probing call is under way"
        if state.probing
        else f"called again in {max(seconds_left, 0.0):.0f} s"
    )
    return f"{state.name} is paused since {since}: {state.reason}; {plan}"


def local_part(state: ProviderState, replicas: int) -> ProviderState:
    """Return the state of one of so many replicas that cannot reach the others: its part of what is
    reserved.
    """
    bookings = {
        step: (-(-r // replicas), -(-t // replicas)) for step, (r, t) in state.booked.items()
    }
    return state.model_copy(deep=True, update={"shares": {}, "booked": bookings})


def _part(limit: int, replicas: int) -> int:
    return max(1, limit // max(1, replicas)) if limit else 0


def _free(limit: int, used_count: int) -> int:
    return limit - used_count if limit else UNLIMITED


def _cut_steps(state: ProviderState, furthest: int, step: int) -> None:
    """Move what is reserved beyond the furthest legal step, before a clock was set back, into this
    one.
    """
    for late_step in [booked_step for booked_step in state.booked if booked_step > furthest]:
        _add(state, step, *state.booked.pop(late_step))


def _add(state: ProviderState, step: int, requests: int, tokens: int) -> None:
    before = state.booked.get(step, (0, 0))
    state.booked[step] = (max(0, before[0] + requests), max(0, before[1] + tokens))

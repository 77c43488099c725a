"""All that is calculated about time. The other Holdfast clients use the same numbers. Everything is in seconds."""

from holdfast import v1
from holdfast._clock import Instant


def safety_margin(ttl: float) -> float:
    """How long before a lease's end its holder stops: 2 s or a tenth of the TTL, but never over a third."""
    return min(max(2.0, ttl / 10), ttl / 3)


def safe_until(ttl: float, remaining: float, asked: Instant) -> Instant:
    """When a lease's holder must stop, counted from before the request was sent that told `remaining`."""
    usable = remaining - safety_margin(ttl)
    return Instant(asked.monotonic + usable, asked.wall + usable)


def time_left(deadline: Instant, now: Instant) -> float:
    """How long until `deadline` on the clock that gets there first; 0 or less when either says late."""
    return min(deadline.monotonic - now.monotonic, deadline.wall - now.wall)


def renewal_delay(ttl: float, remaining: float, random: float) -> float:
    """When to renew: after a third of the TTL (or of what is left, near the age cap), give or take 10 %."""
    return min(ttl, remaining) / 3 * (0.9 + 0.2 * random)


def renewal_retry_delay(ttl: float, failures: int, random: float) -> float:
    """How long to wait after so many failed renewals in a row before the next."""
    return min(_doubled(0.25, failures), 5.0, ttl / 6) * (0.5 + random)


def renewal_timeout(ttl: float, left: float) -> float:
    """How long one attempt to renew may take: an answer that got lost must leave time for a second try."""
    return min(left, max(1.0, ttl / 6), 15.0)


def retry_pause(attempt: int, random: float, retry_after: float = 0.0) -> float:
    """How long to wait before a call's next attempt: longer each time, and at least what the server asks for."""
    return max(retry_after, min(_doubled(0.1, attempt), 2.0) * (0.5 + random / 2))


def watch_pause(failures: int, random: float) -> float:
    """How long a watch waits after so many failures in a row before it connects again."""
    return min(_doubled(0.25, failures), 10.0) * (0.5 + random / 2)


def remaining_of(lease: v1.Lease) -> float:
    """How long the lease lived on when the server answered."""
    return lease.remaining.ToTimedelta().total_seconds()


def ttl_of(lease: v1.Lease) -> float:
    """The lease's time to live, as the server applied it."""
    return lease.ttl.ToTimedelta().total_seconds() if lease.HasField("ttl") else remaining_of(lease)


def _doubled(first: float, times: int) -> float:
    # Beyond that every limit is reached, and a float would overflow.
    return first * 2.0 ** min(times - 1, 60)

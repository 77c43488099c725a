"""When a lease is renewed and when it is lost, by clocks that the tests set."""

from __future__ import annotations

from datetime import timedelta

import grpc
import pytest

from holdfast import Instant, RpcError, v1
from holdfast._keeper import Keeper, Step

START = Instant(1_000.0, 5_000_000.0)
AWAY = RpcError(grpc.StatusCode.UNAVAILABLE, "away")
GONE = RpcError(grpc.StatusCode.FAILED_PRECONDITION, "over")


def lease(ttl: float, remaining: float | None = None) -> v1.Lease:
    left = timedelta(seconds=ttl if remaining is None else remaining)
    return v1.Lease(id="l", task_id="t", fencing_token=1, ttl=timedelta(seconds=ttl), remaining=left)


def later(seconds: float, *, wall: float = 0.0, monotonic: float = 0.0) -> Instant:
    return Instant(START.monotonic + seconds + monotonic, START.wall + seconds + wall)


def keeper(ttl: float = 30.0) -> Keeper:
    return Keeper(lease(ttl), START, random=lambda: 0.5)


def kind(kept: Keeper, now: Instant) -> str | None:
    loss = kept.loss_now(now)
    return loss and loss.kind


def test_renews_after_a_third_and_lives_on_from_when_it_asked() -> None:
    kept = keeper(30)
    assert kept.look(later(0)) == Step(wait=1.0, renew=None)
    step = kept.look(later(10))
    assert step
    assert step.renew == pytest.approx(5.0)
    # While one is under way there is no second one.
    assert kept.look(later(11)) == Step(wait=1.0, renew=None)
    kept.renewed(lease(30), later(10))
    assert kind(kept, later(36.9)) is None
    assert kind(kept, later(37.0)) == "unconfirmed"


def test_a_failed_renewal_is_unknown_and_is_tried_again_until_the_safe_deadline() -> None:
    kept = keeper(30)
    kept.look(later(10))
    kept.failed(AWAY, later(10.5))
    step = kept.look(later(10.6))
    assert step
    assert (step.wait, step.renew) == (pytest.approx(0.15), None)
    step = kept.look(later(10.75))
    assert step
    assert step.renew
    kept.failed(AWAY, later(26.9))
    assert kept.look(later(27)) is None
    assert kept.loss
    assert kept.loss.kind == "unconfirmed"
    assert kept.loss.__cause__ is AWAY


def test_what_the_server_says_is_gone_is_lost_at_once() -> None:
    kept = keeper()
    kept.look(later(10))
    kept.failed(GONE, later(10.1))
    assert kept.look(later(10.1)) is None
    assert kind(kept, later(10.1)) == "lost"


@pytest.mark.parametrize("jump", [{"wall": 3600.0}, {"monotonic": 3600.0}])
def test_the_clock_that_is_later_decides(jump: dict[str, float]) -> None:
    kept = keeper()
    assert kept.look(later(1)) is not None
    assert kept.look(later(1, **jump)) is None
    assert kind(kept, later(1)) == "unconfirmed"


def test_a_wall_clock_that_is_set_back_gives_no_more_time() -> None:
    kept = keeper(30)
    assert kind(kept, later(26.9, wall=-3600.0)) is None
    assert kind(kept, later(27.0, wall=-3600.0)) == "unconfirmed"


def test_a_lease_of_a_month_is_kept_like_any_other() -> None:
    month = 30 * 24 * 3600.0
    kept = keeper(month)
    assert kept.look(later(0)) == Step(wait=1.0, renew=None)
    assert kind(kept, later(month * 0.89)) is None
    assert kind(kept, later(month * 0.9)) == "unconfirmed"


def test_paused_renewals_leave_the_deadline_where_it_is() -> None:
    kept = keeper(30)
    kept.pause()
    assert kept.look(later(20)) == Step(wait=1.0, renew=None)
    assert kept.look(later(27)) is None

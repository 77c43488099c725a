package holdfast

import (
	"time"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// safetyMargin is how long before a lease's end its holder stops: 2 s or a tenth of the TTL, but never over a third.
func safetyMargin(ttl time.Duration) time.Duration {
	return min(max(2*time.Second, ttl/10), ttl/3)
}

// safeUntil is when the holder of lease must stop, counted from asked: before the request that it answers was sent.
func safeUntil(lease *holdfastv1.Lease, asked instant) instant {
	return asked.after(remainingOf(lease) - safetyMargin(ttlOf(lease)))
}

// renewalDelay is when to renew: after a third of the TTL, or of what is left, near the age cap, give or take 10 %.
// random is between 0 and 1, as everywhere here.
func renewalDelay(lease *holdfastv1.Lease, random float64) time.Duration {
	third := min(ttlOf(lease), remainingOf(lease)) / 3
	return time.Duration(float64(third) * (0.9 + 0.2*random))
}

// renewalRetryDelay is how long to wait after so many failed renewals in a row, from 1.
func renewalRetryDelay(ttl time.Duration, failures int, random float64) time.Duration {
	longest := min(doubled(250*time.Millisecond, failures-1, 5*time.Second), ttl/6)
	return time.Duration(float64(longest) * (0.5 + random))
}

// renewalTimeout is how long one renewal may take: a reply that got lost must not use up the time of a second try.
func renewalTimeout(ttl, left time.Duration) time.Duration {
	return min(left, max(time.Second, ttl/6), 15*time.Second)
}

// remainingOf is how long the lease lived on when the server answered.
func remainingOf(lease *holdfastv1.Lease) time.Duration {
	return lease.GetRemaining().AsDuration()
}

// ttlOf is the lease's time to live, as the server applied it.
func ttlOf(lease *holdfastv1.Lease) time.Duration {
	if lease.GetTtl() == nil {
		return remainingOf(lease)
	}
	return lease.GetTtl().AsDuration()
}

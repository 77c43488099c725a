package holdfast

import (
	"context"
	"time"
)

// retryPause is how long to wait before a call is sent again, after so many attempts, from 1. It is never shorter than
// the server asks.
func retryPause(attempt int, random float64, retryAfter time.Duration) time.Duration {
	longest := doubled(100*time.Millisecond, attempt-1, 2*time.Second)
	return max(retryAfter, time.Duration(float64(longest)*(0.5+random/2)))
}

// watchPause is how long to wait before a watch connects again, after so many failures in a row, from 1.
func watchPause(failures int, random float64) time.Duration {
	longest := doubled(250*time.Millisecond, failures-1, 10*time.Second)
	return time.Duration(float64(longest) * (0.5 + random/2))
}

// doubled is d, doubled so many times, but at most most.
func doubled(d time.Duration, times int, most time.Duration) time.Duration {
	for range times {
		if d >= most {
			break
		}
		d *= 2
	}
	return min(d, most)
}

// sleep waits; it returns the context's cause when that is done first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package holdfast

import "time"

// instant is one moment, read from two clocks. The monotonic clock is never set, but on Linux it stands still while the
// machine is suspended; the wall clock goes on in suspend, but may be set.
type instant struct {
	monotonic time.Duration
	wall      time.Duration
}

// after is the moment d later, on both clocks.
func (i instant) after(d time.Duration) instant {
	return instant{monotonic: i.monotonic + d, wall: i.wall + d}
}

// timeLeft is how long it is until deadline on the clock that gets there first: 0 or less when either says late.
func timeLeft(deadline, now instant) time.Duration {
	return min(deadline.monotonic-now.monotonic, deadline.wall-now.wall)
}

// clock is where a lease's timing comes from. Tests give their own.
type clock interface {
	now() instant
}

// systemClock reads the machine's clocks; the monotonic one counts from start.
type systemClock struct {
	start time.Time
}

func newSystemClock() systemClock {
	return systemClock{start: time.Now()}
}

func (c systemClock) now() instant {
	now := time.Now()
	// Sub goes by the monotonic readings, UnixNano by the wall clock.
	return instant{monotonic: now.Sub(c.start), wall: time.Duration(now.UnixNano())}
}

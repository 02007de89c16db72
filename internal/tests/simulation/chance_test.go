package simulation

import (
	"hash/fnv"
	"strconv"
	"time"
)

// chance is all that a seed decides. It is asked by name, not in turn: what one part of a run draws does not depend on
// how often another part drew before it, so that a step which is left out changes nothing for the others.
type chance uint64

// draw returns a number that looks random, always the same one for a name.
func (c chance) draw(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	x := h.Sum64() + uint64(c)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// upTo returns a number from 0 to n-1.
func (c chance) upTo(n int, name string) int { return int(c.draw(name) % uint64(n)) }

// between returns a time from low to high, to the nanosecond: what draws under
// two names practically never happens at one instant.
func (c chance) between(low, high time.Duration, name string) time.Duration {
	return low + time.Duration(c.draw(name)%uint64(high-low+1))
}

// brief returns less than a millisecond. It gives each actor an instant of its own.
func (c chance) brief(name string) time.Duration {
	return c.between(time.Microsecond, time.Millisecond, "brief "+name)
}

// numbered names the nth of a kind.
func numbered(kind string, n int) string { return kind + " " + strconv.Itoa(n) }

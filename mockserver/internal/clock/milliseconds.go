package clock

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Milliseconds is a duration in JSON: a number of milliseconds, possibly with a
// fraction.
type Milliseconds time.Duration

// MarshalJSON implements [encoding/json.Marshaler].
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/1e6, 'f', -1, 64), nil
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (m *Milliseconds) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(n) >= math.MaxInt64/1e6 {
		return fmt.Errorf("must be a number of milliseconds, got %s", b)
	}
	*m = Milliseconds(math.Round(n * 1e6))
	return nil
}

package clock

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Milliseconds is a duration as JSON has it: a number of milliseconds, with as
// many digits after the point as it takes.
type Milliseconds time.Duration

// MarshalJSON implements [encoding/json.Marshaler].
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/1e6, 'f', -1, 64), nil
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (m *Milliseconds) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(n) >= math.MaxInt64/1e6 {
		return fmt.Errorf("want a number of milliseconds, not %s", b)
	}
	*m = Milliseconds(math.Round(n * 1e6))
	return nil
}

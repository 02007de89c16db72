package clock

import (
	"encoding/json"
	"testing"
	"time"
)

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "0",
		1:                       "0.000001",
		1500 * time.Microsecond: "1.5",
		time.Hour:               "3600000",
		-time.Second:            "-1000",
		123456789012345:         "123456789.012345",
	} {
		got, err := json.Marshal(Milliseconds(d))
		if err != nil || string(got) != want {
			t.Errorf("%v is %s, %v; want %s", d, got, err, want)
		}
		var back Milliseconds
		if err := json.Unmarshal(got, &back); err != nil || time.Duration(back) != d {
			t.Errorf("%s is %v, %v; want %v", got, time.Duration(back), err, d)
		}
	}
	for _, bad := range []string{`"1s"`, `{}`, `1e300`, `null`, `true`} {
		if err := json.Unmarshal([]byte(bad), new(Milliseconds)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

package riverjobs_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/mockserver"
)

// TestOutage: two replicas, an outage of some pauses. Each pause costs at most one
// unknown outcome; without them, all jobs would be unknown.
func TestOutage(t *testing.T) {
	const orders, pause, maxPause = 30, 200 * time.Millisecond, time.Second
	s := newShop(t)
	s.inject(mockserver.Fault{Action: mockserver.FaultStatus})
	began := time.Now()
	for range 2 {
		s.work(riverjobs.Options{Pause: pause, MaxPause: maxPause})
	}
	var ids []int64
	for i := range orders {
		ids = append(ids, s.insert(fmt.Sprint("A-", i)))
	}
	s.wait("two failures", func() bool { return s.requests() >= 2 }) // at 0 and 200 ms
	s.platform.ClearFaults()
	outage := time.Since(began)
	limit := 1 // for the first request, and one for each pause that ended during the outage
	for next, end := pause, pause; end <= outage; limit++ {
		next = min(2*next, maxPause)
		end += next
	}
	unknown := 0
	for _, id := range ids {
		if _, out := s.ended(id); out.State == riverjobs.StateUnknown {
			unknown++
		}
	}
	if sent := len(s.platform.Outbox()); unknown < 2 || unknown > limit || sent != orders-unknown || s.requests() != orders {
		t.Errorf("%d unknown (at most %d), %d sent, %d requests of %d orders", unknown, limit, sent, s.requests(), orders)
	}
}

// TestPauses: pauses grow up to MaxPause, Retry-After replaces them up to 1 hour, or only extends them after an unknown
// outcome, and a success starts over.
func TestPauses(t *testing.T) {
	s := newShop(t)
	s.work(riverjobs.Options{Pause: 10 * time.Second, MaxPause: 35 * time.Second})
	retryAfter := mockserver.Fault{Action: mockserver.FaultStatus, RetryAfter: "100", Times: 1}
	tooLong := mockserver.Fault{Action: mockserver.FaultStatus, RetryAfter: "86400", Times: 1}
	plain := mockserver.Fault{Action: mockserver.FaultStatus, Times: 1}
	short := mockserver.Fault{Action: mockserver.FaultStatus, RetryAfter: "1", Times: 1}
	rejected := mockserver.Fault{Action: mockserver.FaultStatus, Status: 429, RetryAfter: "20", Times: 1}
	for i, tt := range []struct {
		fault mockserver.Fault
		want  float64 // seconds
	}{
		{plain, 10}, {plain, 20}, {plain, 35}, {plain, 35}, {short, 35}, {rejected, 20}, {retryAfter, 100}, {tooLong, 3600}, {mockserver.Fault{}, 0}, {plain, 10},
	} {
		s.exec("UPDATE emailplatform_pauses SET paused_until = now(), proven_until = 'epoch'") // the pause is over
		if tt.fault.Action != "" {
			s.inject(tt.fault)
		}
		requests := s.requests()
		s.insert(fmt.Sprint("A-", i))
		s.wait("requested", func() bool { return s.requests() == requests+1 })
		const done = "emailplatform_pauses WHERE proven_until > now() OR paused_until > now()"
		s.wait("recorded", func() bool { return s.count(done) == 1 })
		var got float64
		require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT greatest(extract(epoch FROM paused_until - now()), 0)::float8 FROM "+done).Scan(&got))
		if math.Abs(got-tt.want) > 5 {
			t.Errorf("failure %d: a pause of %.1f s, want %.1f", i+1, got, tt.want)
		}
		s.exec("DELETE FROM river_job") // that wait
	}
}

// TestConcurrentRequestsPauseOnce: requests that began before the pause neither extend nor end it.
func TestConcurrentRequestsPauseOnce(t *testing.T) {
	s := newShop(t)
	s.work(riverjobs.Options{Pause: time.Minute})
	s.ended(s.insert("A-0")) // proven, so all jobs send
	s.inject(mockserver.Fault{Action: mockserver.FaultStatus, Times: 2})
	arrived, release := s.hold()
	failures := []int64{s.insert("A-1"), s.insert("A-2")}
	<-arrived
	<-arrived
	arrived, releaseSuccess := s.hold()
	success := s.insert("A-3")
	<-arrived
	release()
	for _, id := range failures {
		if _, out := s.ended(id); out.State != riverjobs.StateUnknown {
			t.Errorf("%+v, want unknown", out)
		}
	}
	releaseSuccess() // after the failures are recorded
	if _, out := s.ended(success); out.State != riverjobs.StateSent {
		t.Errorf("%+v, want sent", out)
	}
	assert.Equal(t, 1, s.count("emailplatform_pauses WHERE failures = 1 AND paused_until > now() + interval '30 s'"), "queues are paused after one failure")
}

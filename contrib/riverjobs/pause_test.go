package riverjobs_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"

	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/mockserver"
)

// TestOutage: two replicas, an outage of some pauses. Each pause costs at most one
// unknown outcome; without them, all jobs would be unknown.
func TestOutage(t *testing.T) {
	t.Parallel()
	const orders, pause, maxPause = 30, 200 * time.Millisecond, time.Second
	s := newShop(t, mockserver.Config{})
	s.inject(mockserver.Fault{Action: mockserver.FaultStatus})
	began := time.Now()
	for range 2 {
		s.start(s.jobs(s.client(), riverjobs.Options{Pause: pause, MaxPause: maxPause}))
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

// TestProbe: after a pause, one job sends while all others wait, and if it succeeds
// they follow. The same holds for the first job of all.
func TestProbe(t *testing.T) {
	t.Parallel()
	s := newShop(t, mockserver.Config{})
	arrived, release := s.hold()
	var ids []int64
	for i := range 10 {
		ids = append(ids, s.insert(fmt.Sprint("A-", i)))
	}
	for range 2 {
		s.start(s.jobs(s.client(), riverjobs.Options{}))
	}
	<-arrived
	s.wait("snoozed", func() bool { return s.count("river_job WHERE metadata ? 'snoozes'") == len(ids)-1 })
	if len(arrived) > 0 {
		t.Error("another job sends during the probe")
	}
	release()
	for _, id := range ids {
		s.until(id, "completed", func(row *rivertype.JobRow) bool { return row.State == rivertype.JobStateCompleted })
	}
	if n := len(s.platform.Outbox()); n != len(ids) {
		t.Errorf("%d emails", n)
	}
}

// TestPauses: pauses grow up to their limit, Retry-After replaces them, and a
// success starts over. Failures of requests that began before the pause do not count.
func TestPauses(t *testing.T) {
	t.Parallel()
	s := newShop(t, mockserver.Config{})
	s.start(s.jobs(s.client(), riverjobs.Options{Pause: 10 * time.Second, MaxPause: 35 * time.Second}))
	retryAfter := mockserver.Fault{Action: mockserver.FaultStatus, RetryAfter: "100", Times: 1}
	tooLong := mockserver.Fault{Action: mockserver.FaultStatus, RetryAfter: "86400", Times: 1}
	plain := mockserver.Fault{Action: mockserver.FaultStatus, Times: 1}
	for i, tt := range []struct {
		fault mockserver.Fault
		want  float64 // seconds
	}{
		{plain, 10}, {plain, 20}, {plain, 35}, {plain, 35}, {retryAfter, 100}, {tooLong, 3600}, {mockserver.Fault{}, 0}, {plain, 10},
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
		fatal(t, s.pool.QueryRow(t.Context(), "SELECT greatest(extract(epoch FROM paused_until - now()), 0)::float8 FROM "+done).Scan(&got))
		if math.Abs(got-tt.want) > 5 {
			t.Errorf("failure %d: a pause of %.1f s, want %.1f", i+1, got, tt.want)
		}
		s.exec("DELETE FROM river_job") // that wait
	}
}

// TestConcurrentFailuresPauseOnce: requests that began before the pause neither extend nor end it.
func TestConcurrentFailuresPauseOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, mockserver.Config{})
	s.start(s.jobs(s.client(), riverjobs.Options{Pause: time.Minute}))
	s.ended(s.insert("A-0")) // proven, so all jobs send
	arrived, release := s.hold()
	s.inject(mockserver.Fault{Action: mockserver.FaultStatus, Times: 2})
	ids := []int64{s.insert("A-1"), s.insert("A-2"), s.insert("A-3")}
	for range ids {
		<-arrived
	}
	release()
	sent, unknown := 0, 0
	for _, id := range ids {
		switch _, out := s.ended(id); out.State {
		case riverjobs.StateSent:
			sent++
		case riverjobs.StateUnknown:
			unknown++
		}
	}
	if sent != 1 || unknown != 2 || s.count("emailplatform_pauses WHERE failures = 1 AND paused_until > now() + interval '30 s'") != 1 {
		t.Errorf("%d sent, %d unknown, %d pauses", sent, unknown, s.count("emailplatform_pauses WHERE failures = 1"))
	}
}

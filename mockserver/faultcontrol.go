package mockserver

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// The control routes of the fault plan and the lookup limit.

func (s *Server) faultRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET faults", s.controlFaults)
	route("POST faults", s.controlInject)
	route("DELETE faults", func(*http.Request) (any, error) {
		s.ClearFaults()
		return nil, nil
	})
	route("PUT faults/seed", s.controlSeedFaults)
	route("PATCH faults/{id}", s.controlSwitchFault)
	route("DELETE faults/{id}", func(r *http.Request) (any, error) {
		if s.RemoveFault(r.PathValue("id")) != nil {
			return nil, notFound("fault", r.PathValue("id"), "path", "id")
		}
		return nil, nil
	})
	route("POST fail-next-message", s.controlFailNext)
	route("PUT lookup-limit", s.controlLookupLimit)
}

// faultWire is a rule as it travels: its delay in milliseconds.
type faultWire struct {
	Fault
	DelayMS int64 `json:"delay_ms,omitzero"`
}

type ruleWire struct {
	FaultRule
	DelayMS int64 `json:"delay_ms,omitzero"`
}

func ruleOnWire(r FaultRule) ruleWire { return ruleWire{r, r.Delay.Milliseconds()} }

func (s *Server) controlFaults(*http.Request) (any, error) {
	seed, rules := s.platform.faults.list()
	data := make([]ruleWire, len(rules))
	for i, rule := range rules {
		data[i] = ruleOnWire(rule)
	}
	return map[string]any{
		"seed":       seed,
		"data":       data,
		"actions":    slices.Sorted(maps.Keys(faultActions())),
		"operations": loadContract().operationList(),
	}, nil
}

func (s *Server) controlInject(r *http.Request) (any, error) {
	in, err := controlBody[faultWire](r)
	if err != nil {
		return nil, err
	}
	if in.DelayMS < 0 || in.DelayMS > maxFaultDelay.Milliseconds() {
		return nil, invalid("want 0 to 24 h", "body", "delay_ms")
	}
	in.Delay = time.Duration(in.DelayMS) * time.Millisecond
	added, err := s.inject([]Fault{in.Fault})
	if err != nil {
		return nil, faultProblem(err)
	}
	return ruleOnWire(added[0]), nil
}

// faultProblem tells each mistake of a rule.
func faultProblem(err error) error {
	p := &problem{status: http.StatusUnprocessableEntity}
	var collect func(error)
	collect = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				collect(e)
			}
			return
		}
		var mistake *faultError
		if errors.As(err, &mistake) {
			p.details = append(p.details, detail("value_error", mistake.rule, "body", mistake.field))
		}
	}
	collect(err)
	return p
}

func (s *Server) controlSwitchFault(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Enabled *bool `json:"enabled"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Enabled == nil {
		return nil, fail(http.StatusUnprocessableEntity, "missing", "required", "body", "enabled")
	}
	id := r.PathValue("id")
	if s.EnableFault(id, *in.Enabled) != nil {
		return nil, notFound("fault", id, "path", "id")
	}
	rules := s.Faults()
	if i := slices.IndexFunc(rules, func(rule FaultRule) bool { return rule.ID == id }); i >= 0 {
		return ruleOnWire(rules[i]), nil
	}
	return nil, notFound("fault", id, "path", "id") // removed in the meantime
}

func (s *Server) controlSeedFaults(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Seed uint64 `json:"seed"`
	}](r)
	if err != nil {
		return nil, err
	}
	return map[string]uint64{"seed": s.SeedFaults(in.Seed)}, nil
}

func (s *Server) controlFailNext(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Error string `json:"error"`
		Count int    `json:"count"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Count < 0 {
		return nil, invalid("want 1 or more", "body", "count")
	}
	added, err := s.inject([]Fault{{Action: FaultInternalError, Body: in.Error, Times: max(1, in.Count)}})
	if err != nil {
		return nil, faultProblem(err)
	}
	return ruleOnWire(added[0]), nil
}

// MarshalText implements [encoding.TextMarshaler].
func (l LookupLimit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] for gap, bucket and
// calendar.
func (l *LookupLimit) UnmarshalText(text []byte) error {
	for _, known := range []LookupLimit{LookupGap, LookupBucket, LookupCalendar} {
		if known.String() == string(text) {
			*l = known
			return nil
		}
	}
	return fmt.Errorf("mockserver: lookup limit: want gap, bucket or calendar, not %q", text)
}

// String returns gap, bucket or calendar.
func (l LookupLimit) String() string {
	switch l {
	case LookupBucket:
		return "bucket"
	case LookupCalendar:
		return "calendar"
	}
	return "gap"
}

func (s *Server) lookupLimit() LookupLimit {
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	return s.platform.cfg.Lookups
}

func (s *Server) controlLookupLimit(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Mode string `json:"mode"`
	}](r)
	if err != nil {
		return nil, err
	}
	var limit LookupLimit
	if limit.UnmarshalText([]byte(in.Mode)) != nil {
		return nil, invalid("want gap, bucket or calendar", "body", "mode")
	}
	s.SetLookupLimit(limit)
	return map[string]LookupLimit{"mode": limit}, nil
}

package control

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

// The control routes of the fault plan and the lookup limit.

func (s *Control) faultRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET faults", s.controlFaults)
	route("POST faults", s.controlInject)
	route("DELETE faults", func(*http.Request) (any, error) {
		s.Faults.Remove("")
		return nil, nil
	})
	route("PUT faults/seed", s.controlSeedFaults)
	route("PATCH faults/{id}", s.controlSwitchFault)
	route("DELETE faults/{id}", func(r *http.Request) (any, error) {
		if s.Faults.Remove(r.PathValue("id")) == 0 {
			return nil, problem.NotFound("fault", r.PathValue("id"), "path", "id")
		}
		return nil, nil
	})
	route("POST fail-next-message", s.controlFailNext)
	route("PUT lookup-limit", s.controlLookupLimit)
}

func (s *Control) controlFaults(*http.Request) (any, error) {
	seed, rules := s.Faults.List()
	data := make([]fault.RuleWire, len(rules))
	for i, rule := range rules {
		data[i] = rule.Wire()
	}
	return map[string]any{
		"seed":       seed,
		"data":       data,
		"actions":    fault.Actions(),
		"operations": contract.Load().List(),
	}, nil
}

func (s *Control) controlInject(r *http.Request) (any, error) {
	in, err := controlBody[fault.Wire](r)
	if err != nil {
		return nil, err
	}
	if in.DelayMS < 0 || in.DelayMS > fault.MaxDelay.Milliseconds() {
		return nil, problem.Invalid("want 0 to 24 h", "body", "delay_ms")
	}
	in.Delay = time.Duration(in.DelayMS) * time.Millisecond
	added, err := s.Inject([]fault.Fault{in.Fault})
	if err != nil {
		return nil, faultProblem(err)
	}
	return added[0].Wire(), nil
}

// faultProblem tells each mistake of a rule.
func faultProblem(err error) error {
	p := &problem.Error{Status: http.StatusUnprocessableEntity}
	var collect func(error)
	collect = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				collect(e)
			}
			return
		}
		var mistake *fault.FieldError
		if errors.As(err, &mistake) {
			p.Details = append(p.Details, problem.At("value_error", mistake.Rule, "body", mistake.Field))
		}
	}
	collect(err)
	return p
}

func (s *Control) controlSwitchFault(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Enabled *bool `json:"enabled"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Enabled == nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "missing", "required", "body", "enabled")
	}
	id := r.PathValue("id")
	if !s.Faults.Change(id, func(r *fault.Rule) { r.Enabled = *in.Enabled }) {
		return nil, problem.NotFound("fault", id, "path", "id")
	}
	_, rules := s.Faults.List()
	if i := slices.IndexFunc(rules, func(rule fault.Rule) bool { return rule.ID == id }); i >= 0 {
		return rules[i].Wire(), nil
	}
	return nil, problem.NotFound("fault", id, "path", "id") // removed in the meantime
}

func (s *Control) controlSeedFaults(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Seed uint64 `json:"seed"`
	}](r)
	if err != nil {
		return nil, err
	}
	return map[string]uint64{"seed": s.Faults.Reseed(in.Seed)}, nil
}

func (s *Control) controlFailNext(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Error string `json:"error"`
		Count int    `json:"count"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Count < 0 {
		return nil, problem.Invalid("want 1 or more", "body", "count")
	}
	added, err := s.Inject([]fault.Fault{{Action: fault.InternalError, Body: in.Error, Times: max(1, in.Count)}})
	if err != nil {
		return nil, faultProblem(err)
	}
	return added[0].Wire(), nil
}

func (s *Control) controlLookupLimit(r *http.Request) (any, error) {
	in, err := controlBody[struct {
		Mode string `json:"mode"`
	}](r)
	if err != nil {
		return nil, err
	}
	var limit platform.LookupLimit
	if limit.UnmarshalText([]byte(in.Mode)) != nil {
		return nil, problem.Invalid("want gap, bucket or calendar", "body", "mode")
	}
	s.Platform.SetLookups(limit)
	return map[string]platform.LookupLimit{"mode": limit}, nil
}

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

func (c *Control) faults(*http.Request) (any, error) {
	seed, rules := c.Faults.List()
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

func (c *Control) inject(r *http.Request) (any, error) {
	in, err := bodyOf[fault.Wire](r)
	if err != nil {
		return nil, err
	}
	if in.DelayMS < 0 || in.DelayMS > fault.MaxDelay.Milliseconds() {
		return nil, problem.Invalid("want 0 to 24 h", "body", "delay_ms")
	}
	in.Delay = time.Duration(in.DelayMS) * time.Millisecond
	added, err := c.Inject([]fault.Fault{in.Fault})
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
		if mistake, ok := errors.AsType[*fault.FieldError](err); ok {
			p.Details = append(p.Details, problem.At("value_error", mistake.Rule, "body", mistake.Field))
		}
	}
	collect(err)
	return p
}

func (c *Control) switchFault(r *http.Request) (any, error) {
	in, err := bodyOf[struct {
		Enabled *bool `json:"enabled"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Enabled == nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "missing", "required", "body", "enabled")
	}
	id := r.PathValue("id")
	if !c.Faults.Change(id, func(r *fault.Rule) { r.Enabled = *in.Enabled }) {
		return nil, problem.NotFound("fault", id, "path", "id")
	}
	_, rules := c.Faults.List()
	if i := slices.IndexFunc(rules, func(rule fault.Rule) bool { return rule.ID == id }); i >= 0 {
		return rules[i].Wire(), nil
	}
	return nil, problem.NotFound("fault", id, "path", "id") // removed in the meantime
}

func (c *Control) clearFaults(*http.Request) (any, error) {
	c.Faults.Remove("")
	return nil, nil
}

func (c *Control) removeFault(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if c.Faults.Remove(id) == 0 {
		return nil, problem.NotFound("fault", id, "path", "id")
	}
	return nil, nil
}

func (c *Control) seedFaults(r *http.Request) (any, error) {
	in, err := bodyOf[struct {
		Seed uint64 `json:"seed"`
	}](r)
	if err != nil {
		return nil, err
	}
	return map[string]uint64{"seed": c.Faults.Reseed(in.Seed)}, nil
}

func (c *Control) lookupLimit(r *http.Request) (any, error) {
	in, err := bodyOf[struct {
		Mode string `json:"mode"`
	}](r)
	if err != nil {
		return nil, err
	}
	var limit platform.LookupLimit
	if limit.UnmarshalText([]byte(in.Mode)) != nil {
		return nil, problem.Invalid("want gap, bucket or calendar", "body", "mode")
	}
	c.Platform.SetLookups(limit)
	return map[string]platform.LookupLimit{"mode": limit}, nil
}

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
	"example.com/emailplatform/mockserver/record"
)

// faultRoutes are about what goes wrong.
func (c *Control) faultRoutes() section {
	return section{
		title: "Faults",
		about: "A rule says what it is about (`operation`, `method` and `path` of requests, `event` and `webhook_id` " +
			"of deliveries), which of those it hits (`nth`, `every`, `probability`, `times`; all if nothing is said), and " +
			"by its `action` what happens to them. The [documentation of `mockserver.Fault`](../mockserver/record/fault.go) " +
			"says what each means.",
		routes: []route{
			{
				pattern: "GET faults",
				does:    "The rules in the order in which they are tried, and what rules can be about.",
				handler: answering(c.faults),
			},
			{
				pattern: "POST faults",
				does:    "Adds a rule and answers it with its id.",
				handler: taking(c.inject),
				example: example{body: `{"action":"internal_error","times":1,"body":"the queue is full"}`},
			},
			{
				pattern: "PATCH faults/{id}",
				does:    "Switches a rule on or off: one that is off neither counts nor hits.",
				handler: taking(c.switchFault),
				example: example{body: `{"enabled":false}`},
			},
			{pattern: "DELETE faults/{id}", does: "Removes a rule.", handler: answering(c.removeFault)},
			{pattern: "DELETE faults", does: "Removes all rules.", handler: answering(c.clearFaults)},
			{
				pattern: "PUT faults/seed",
				does:    "Counts and probabilities begin anew; seed 0 chooses one. Answers the seed.",
				handler: taking(c.seedFaults),
				example: example{body: `{"seed":7}`},
			},
			{
				pattern: "PUT lookup-limit",
				does:    "How one lookup a second is counted, until everything is forgotten.",
				handler: taking(c.lookupLimit),
				example: example{body: `{"mode":"bucket"}`},
			},
		},
	}
}

type faultPlan struct {
	Seed       uint64               `json:"seed" means:"of the probabilities"`
	Data       []fault.RuleWire     `json:"data" means:"the rules, in the order in which they are tried"`
	Actions    []record.FaultAction `json:"actions" means:"what rules can do"`
	Operations []contract.Known     `json:"operations" means:"what rules can be about"`
}

func (c *Control) faults(*request) (faultPlan, error) {
	seed, rules := c.Faults.List()
	data := make([]fault.RuleWire, len(rules))
	for i, rule := range rules {
		data[i] = fault.WireOf(rule)
	}
	return faultPlan{seed, data, fault.Actions(), contract.List()}, nil
}

func (c *Control) inject(_ *request, in fault.Wire) (fault.RuleWire, error) {
	if in.DelayMS < 0 || in.DelayMS > fault.MaxDelay.Milliseconds() {
		return fault.RuleWire{}, problem.Invalid("want 0 to 24 h", "body", "delay_ms")
	}
	in.Delay = time.Duration(in.DelayMS) * time.Millisecond
	added, err := c.Inject([]record.Fault{in.Fault})
	if err != nil {
		return fault.RuleWire{}, faultProblem(err)
	}
	return fault.WireOf(added[0]), nil
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

type switchBody struct {
	Enabled bool `json:"enabled" means:"whether the rule acts"`
}

func (c *Control) switchFault(r *request, in switchBody) (fault.RuleWire, error) {
	id := r.PathValue("id")
	if !c.Faults.Change(id, func(r *record.FaultRule) { r.Enabled = in.Enabled }) {
		return fault.RuleWire{}, problem.NotFound("fault", id, "path", "id")
	}
	_, rules := c.Faults.List()
	if i := slices.IndexFunc(rules, func(rule record.FaultRule) bool { return rule.ID == id }); i >= 0 {
		return fault.WireOf(rules[i]), nil
	}
	return fault.RuleWire{}, problem.NotFound("fault", id, "path", "id") // removed in the meantime
}

func (c *Control) clearFaults(*request) (nothing, error) {
	c.Faults.Remove("")
	return nothing{}, nil
}

func (c *Control) removeFault(r *request) (nothing, error) {
	id := r.PathValue("id")
	if c.Faults.Remove(id) == 0 {
		return nothing{}, problem.NotFound("fault", id, "path", "id")
	}
	return nothing{}, nil
}

type seedBody struct {
	Seed uint64 `json:"seed" means:"of the probabilities; 0 chooses one"`
}

func (c *Control) seedFaults(_ *request, in seedBody) (seedBody, error) {
	return seedBody{c.Faults.Reseed(in.Seed)}, nil
}

type lookupBody struct {
	Mode platform.LookupLimit `json:"mode" means:"how lookups are counted"`
}

// lookupLimits are the ways of counting lookups.
func lookupLimits() []string {
	return []string{platform.LookupGap.String(), platform.LookupBucket.String(), platform.LookupCalendar.String()}
}

func (c *Control) lookupLimit(_ *request, in lookupBody) (lookupBody, error) {
	c.Platform.SetLookups(in.Mode)
	return in, nil
}

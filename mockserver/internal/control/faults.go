package control

import (
	"errors"
	"net/http"
	"time"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// faultRoutes returns the routes for fault injection and for the lookup rate limit.
func (c *Control) faultRoutes() section {
	return section{
		title: "Faults",
		intro: "A rule has what it applies to (`account_id`, `operation`, `method` and `path` of requests, `event` and `webhook_id` of " +
			"deliveries), which of those it matches (`nth`, `every`, `probability`, `times`; all by default), and the " +
			"`action`. The seed of the probabilities, the order of rules and the limit of lookups are of all accounts.",
		routes: []route{
			handle("GET faults", noInput(c.faults),
				"The rules in order, and the valid actions and operations of rules."),
			handle("POST faults", jsonBody(c.inject),
				"Adds a rule and returns it with its id.").
				try(example{body: `{"action":"internal_error","times":1,"body":"the queue is full"}`}),
			handle("PATCH faults/{id}", jsonBody(c.switchFault),
				"Switches a rule on or off. A rule that is off neither counts nor applies.").
				try(example{body: `{"enabled":false}`}),
			handle("DELETE faults/{id}", byID(c.removeFault), "Removes a rule."),
			handle("DELETE faults", noInput(c.removeFaults),
				"Removes all rules, or those with the `account_id`.").params(ofAccount("the account; all rules by default")),
			handle("PUT faults/seed", jsonBody(c.seedFaults),
				"Restarts all counts and probabilities, of all accounts, with a seed; 0 chooses one. Returns the seed.").
				try(example{body: `{"seed":7}`}),
			handle("PUT lookup-limit", jsonBody(c.setLookupLimit),
				"Sets how the limit of one lookup per second is counted, for all accounts, until the next reset.").
				try(example{body: `{"mode":"token_bucket"}`}),
		},
	}
}

type faultPlan struct {
	Seed       uint64               `json:"seed" doc:"the seed of the probabilities"`
	Data       []fault.RuleWire     `json:"data" doc:"the rules in order"`
	Actions    []record.FaultAction `json:"actions" doc:"the actions of rules"`
	Operations []contract.Known     `json:"operations" doc:"the valid operations of rules"`
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
	in.Delay = time.Duration(in.DelayMS) * time.Millisecond
	added, err := c.Inject([]record.Fault{in.Fault})
	if err != nil {
		errs, _ := errors.AsType[fault.FieldErrors](err) // Inject returns no other errors
		p := &problem.Error{Status: http.StatusUnprocessableEntity}
		for _, e := range errs {
			p.Details = append(p.Details, problem.At("value_error", e.Rule, "body", e.Field))
		}
		return fault.RuleWire{}, p
	}
	return fault.WireOf(added[0]), nil
}

type switchBody struct {
	Enabled bool `json:"enabled" doc:"whether the rule is on"`
}

func (c *Control) switchFault(r *request, in switchBody) (fault.RuleWire, error) {
	var changed record.FaultRule
	id := r.PathValue("id")
	if !c.Faults.Change(id, func(r *record.FaultRule) { r.Enabled = in.Enabled; changed = *r }) {
		return fault.RuleWire{}, problem.NotFound("fault", id, "path", "id")
	}
	return fault.WireOf(changed), nil
}

func (c *Control) removeFault(id string) (nothing, error) {
	if c.Faults.Remove(id) == 0 {
		return nothing{}, problem.NotFound("fault", id, "path", "id")
	}
	return nothing{}, nil
}

func (c *Control) removeFaults(r *request) (nothing, error) {
	if account := r.query.id("account_id"); account != 0 {
		c.Faults.RemoveOf(account)
	} else {
		c.Faults.Remove("")
	}
	return nothing{}, nil
}

type seedBody struct {
	Seed uint64 `json:"seed" doc:"the seed of the probabilities; 0 chooses one"`
}

func (c *Control) seedFaults(_ *request, in seedBody) (seedBody, error) {
	return seedBody{c.Faults.Reseed(in.Seed)}, nil
}

type lookupBody struct {
	Mode platform.LookupLimit `json:"mode" doc:"the algorithm of the lookup rate limit"`
}

func (c *Control) setLookupLimit(_ *request, in lookupBody) (lookupBody, error) {
	c.Platform.SetLookups(in.Mode)
	return in, nil
}

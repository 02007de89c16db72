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

func (c *Control) faultRoutes() section {
	return section{
		title: "Faults",
		intro: "A rule applies to requests (`account_id`, `operation`, `method` and `path`) or to deliveries (`account_id`, `event` " +
			"and `webhook_id`). Of these, it selects all, or some with `nth`, `every`, `probability` and `times`. `action` is the " +
			"effect. All accounts share the seed of the probabilities, the order of rules and the lookup rate limit.",
		routes: []route{
			handle("GET faults", noInput(c.faults),
				"The rules in order, and the valid actions and operations of rules."),
			handle("POST faults", jsonBody(c.inject),
				"Adds a rule and returns it with its id.").
				try(example{body: `{"action":"internal_error","times":1,"body":"the queue is full"}`}),
			handle("PATCH faults/{id}", jsonBody(c.switchFault),
				"Switches a rule on or off. A rule that is off selects nothing, and its counts do not change.").
				try(example{body: `{"enabled":false}`}),
			handle("DELETE faults/{id}", byID(c.removeFault), "Removes a rule."),
			handle("DELETE faults", noInput(c.removeFaults),
				"Removes all rules, or only the rules with the `account_id`.").params(ofAccount("the account; all rules by default")),
			handle("PUT faults/seed", jsonBody(c.seedFaults),
				"Resets the counts and the random numbers of all rules of all accounts, with a seed. 0 chooses a seed. Returns the seed.").
				try(example{body: `{"seed":7}`}),
			handle("PUT lookup-limit", jsonBody(c.setLookupLimit),
				"Sets the algorithm of the limit of one lookup per second, for all accounts, until the next reset.").
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

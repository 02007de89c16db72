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
		intro: "A fault rule matches requests by `account_id`, `operation`, `method` and `path`, or deliveries by `account_id`, " +
			"`event` and `webhook_id`. Rules with the action `internal_error` match messages of the Email API by `account_id`. " +
			"By default, a rule selects everything that matches. To select only some matches, set one of `nth`, `every` and " +
			"`probability`. `times` limits how often the rule is applied. `action` is the effect on the selected request, message or delivery. " +
			"If several rules select the same request, only the first of them is applied. All accounts share the seed for " +
			"random faults, the order of rules and the algorithm of the lookup rate limit.",
		notes: faultActions,
		routes: []route{
			handle("GET faults", noInput(c.faults),
				"The rules in the order of evaluation, with the valid actions and operations."),
			handle("POST faults", jsonBody(c.inject),
				"Adds a rule, and returns the rule with its id.").
				try(example{body: `{"action":"internal_error","times":1,"body":"the queue is full"}`}),
			handle("PATCH faults/{id}", jsonBody(c.switchFault),
				"Enables or disables a rule. The server ignores disabled rules and does not change their counts.").
				try(example{body: `{"enabled":false}`}),
			handle("DELETE faults/{id}", byID(c.removeFault), "Removes a rule."),
			handle("DELETE faults", noInput(c.removeFaults),
				"Removes all rules, or only the rules with this `account_id`.").
				params(ofAccount("the account of the rules; by default the route removes all rules")),
			handle("PUT faults/seed", jsonBody(c.seedFaults),
				"Sets the seed for random faults, and resets the counts and random numbers of all rules in all accounts. "+
					"If the seed is 0, the server chooses a random seed. Returns the seed.").
				try(example{body: `{"seed":7}`}),
			handle("PUT lookup-limit", jsonBody(c.setLookupLimit),
				"Sets the algorithm that limits email lookups to one per second for each user. The setting applies to all accounts, until "+
					"the next reset of all accounts.").
				try(example{body: `{"mode":"token_bucket"}`}),
		},
	}
}

const faultActions = "**Actions.** For requests, `status` responds with `status` (503 by default), `retry_after` and `body`. " +
	"`reset` closes the connection without a response. `hang` sends no response and waits until the client closes the connection. `delay` processes " +
	"the request after `delay_ms`. `truncate` processes the request and sends half of the response body. `oversize` processes " +
	"the request and responds with a JSON object of `size` bytes. `not_json` responds with `status` (200 by default) and an HTML " +
	"page, or `body`. `redirect` responds with `status` (307 by default) and `location`. With " +
	"`after_processing`, the server first processes the request and discards its response, for example to simulate a lost response with " +
	"`reset`. For messages, `internal_error` sets the " +
	"status in the response to `error` and fires Email.Error. For deliveries, `drop` makes no attempt. `duplicate` delivers the " +
	"same bytes again after the receiver has accepted them. `reorder` delays a delivery until after the next delivery of the " +
	"webhook, or until `delay_ms` (1 s by default) has passed. If `event` or `webhook_id` is set, `delay` delays the delivery, and " +
	"`status`, `reset` and `hang` make a delivery attempt fail. The server then retries the delivery."

type faultPlan struct {
	Seed       uint64               `json:"seed" doc:"the seed for random faults"`
	Data       []fault.RuleWire     `json:"data" doc:"the rules, in the order of evaluation"`
	Actions    []record.FaultAction `json:"actions" doc:"the valid actions"`
	Operations []contract.Known     `json:"operations" doc:"the valid operations"`
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
	Enabled bool `json:"enabled" doc:"whether the rule is enabled"`
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
	Seed uint64 `json:"seed" doc:"the seed for random faults; 0 means a random seed"`
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

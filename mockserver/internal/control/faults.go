package control

import (
	"errors"
	"net/http"
	"time"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/model"
)

func (c *Control) faultRoutes() []route {
	return []route{
		handle("GET faults", noInput(c.faults)),
		handle("POST faults", jsonBody(c.inject)),
		handle("PUT faults/{id}", jsonBody(c.inject)),
		handle("PATCH faults/{id}", jsonBody(c.switchFault)),
		handle("DELETE faults/{id}", byID(c.removeFault)),
		handle("DELETE faults", noInput(oneOrAll(c.removeFaultsOf, c.Faults.RemoveAll)), ofAccount("the account of the rules")),
		handle("PUT faults/seed", jsonBody(c.seedFaults)),
		handle("PUT lookup-limit", jsonBody(c.setLookupLimit)),
	}
}

type faultPlan struct {
	Seed       uint64                  `json:"seed" doc:"the seed for random faults"`
	Data       []fault.RuleJSON        `json:"data" doc:"the rules, in the order of evaluation"`
	Actions    []model.FaultAction     `json:"actions" doc:"the actions"`
	Details    []fault.Action          `json:"action_details" doc:"the details of the actions"`
	Operations []contract.OperationRef `json:"operations" doc:"the operations"`
}

func (c *Control) faults(*request) (faultPlan, error) {
	seed, rules := c.Faults.List()
	data := make([]fault.RuleJSON, len(rules))
	for i, rule := range rules {
		data[i] = fault.ToJSON(rule)
	}
	return faultPlan{seed, data, fault.ActionNames(), fault.Actions(), contract.OperationRefs()}, nil
}

// inject adds a rule, or replaces the rule that the path names.
func (c *Control) inject(r *request, in fault.JSON) (fault.RuleJSON, error) {
	in.Delay = time.Duration(in.DelayMS) * time.Millisecond
	id := r.PathValue("id")
	rule, err := c.Faults.Set(id, in.Fault)
	if errors.Is(err, fault.ErrNoRule) {
		return fault.RuleJSON{}, apierror.NotFound("fault", id, "path", "id")
	}
	if err != nil {
		errs, _ := errors.AsType[fault.FieldErrors](err) // Set returns no other errors
		return fault.RuleJSON{}, &apierror.Error{Status: http.StatusUnprocessableEntity, Details: errs}
	}
	return fault.ToJSON(rule), nil
}

type switchBody struct {
	Enabled bool `json:"enabled" doc:"whether the rule is enabled"`
}

func (c *Control) switchFault(r *request, in switchBody) (fault.RuleJSON, error) {
	var changed model.FaultRule
	id := r.PathValue("id")
	if !c.Faults.Change(id, func(r *model.FaultRule) { r.Enabled = in.Enabled; changed = *r }) {
		return fault.RuleJSON{}, apierror.NotFound("fault", id, "path", "id")
	}
	return fault.ToJSON(changed), nil
}

func (c *Control) removeFault(id string) (emptyBody, error) {
	if !c.Faults.Remove(id) {
		return emptyBody{}, apierror.NotFound("fault", id, "path", "id")
	}
	return emptyBody{}, nil
}

func (c *Control) removeFaultsOf(account int64) error {
	c.Faults.RemoveOf(account)
	return nil
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
	c.Platform.SetLookupLimit(in.Mode)
	return in, nil
}

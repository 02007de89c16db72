package mockserver

import (
	"fmt"

	"example.com/emailplatform/mockserver/model"
)

// Fault is a rule for fault injection. It has conditions, which select requests,
// messages or deliveries, and an action, which simulates a failure. For the fields, see
// [model.Fault].
type Fault = model.Fault

// FaultRule is a fault rule with its id and match counts.
type FaultRule = model.FaultRule

// FaultAction is a string that specifies the effect of a rule. For rules of delivery
// attempts, see [model.FaultAction].
type FaultAction = model.FaultAction

// Inject appends fault rules and returns them with their ids. If a rule is invalid,
// Inject adds no rules and returns an error that names the invalid field.
//
// The server applies rules to a request after checking the access token, but before
// validating the request. If several rules select a request, the first rule applies.
func (s *Server) Inject(faults ...Fault) ([]FaultRule, error) {
	added, err := s.engine.Faults.Add(faults)
	return added, prefixed("inject", err)
}

// Faults returns the fault rules with their match counts, oldest first.
func (s *Server) Faults() []FaultRule {
	_, rules := s.engine.Faults.List()
	return rules
}

// RemoveFault removes a rule. Then the delays of requests end, and the requests that the
// rule leaves hanging are aborted. However, deliveries that the rule has delayed are still
// sent at the delayed time. RemoveFault returns an error if no rule has this id. When the
// last rule is removed, the random numbers for Fault.Probability restart from the seed.
func (s *Server) RemoveFault(id string) error {
	if !s.engine.Faults.Remove(id) {
		return prefixed("remove the fault", fmt.Errorf("rule %q does not exist", id))
	}
	return nil
}

// EnableFault enables or disables a rule. Disabling a rule has the same effect on delays
// and hanging requests as [Server.RemoveFault]. EnableFault returns an error if no rule
// has this id.
func (s *Server) EnableFault(id string, on bool) error {
	if !s.engine.Faults.Change(id, func(r *FaultRule) { r.Enabled = on }) {
		return prefixed("enable the fault", fmt.Errorf("rule %q does not exist", id))
	}
	return nil
}

// ClearFaults removes all rules as [Server.RemoveFault] does, and restarts the sequence of
// random numbers from the seed.
func (s *Server) ClearFaults() { s.engine.Faults.RemoveAll() }

// FaultSeed returns the seed for random faults.
func (s *Server) FaultSeed() uint64 {
	seed, _ := s.engine.Faults.List()
	return seed
}

// SeedFaults sets the seed for random faults, resets the counts of all rules, and
// returns the seed. If the seed is 0, SeedFaults chooses a random seed.
func (s *Server) SeedFaults(seed uint64) uint64 { return s.engine.Faults.Reseed(seed) }

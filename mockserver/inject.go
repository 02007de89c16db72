package mockserver

import (
	"fmt"

	"example.com/emailplatform/mockserver/internal/fault"
)

// Inject adds rules to the end of the fault plan. It adds none if one of them
// has a mistake, which the error names.
//
// Requests are disturbed once their access token is known and before they are
// validated. Every rule counts all that it is about; of several that hit, the
// first acts.
func (s *Server) Inject(faults ...Fault) error {
	_, err := s.world.Inject(each(faults, func(f Fault) fault.Fault { return fault.Fault(f) }))
	return err
}

// Faults returns the rules of the fault plan in the order in which they act,
// with what became of them so far.
func (s *Server) Faults() []FaultRule {
	_, rules := s.world.Faults.List()
	return each(rules, func(r fault.Rule) FaultRule {
		return FaultRule{ID: r.ID, Fault: Fault(r.Fault), Enabled: r.Enabled, Calls: r.Calls, Hits: r.Hits}
	})
}

// RemoveFault removes a rule. It is an error if there is none with that id.
func (s *Server) RemoveFault(id string) error {
	if id == "" || s.world.Faults.Remove(id) == 0 {
		return fmt.Errorf("mockserver: no fault %q", id)
	}
	return nil
}

// EnableFault switches a rule on or off. It is an error if there is none with
// that id.
func (s *Server) EnableFault(id string, on bool) error {
	if !s.world.Faults.Change(id, func(r *fault.Rule) { r.Enabled = on }) {
		return fmt.Errorf("mockserver: no fault %q", id)
	}
	return nil
}

// ClearFaults removes all rules: those that are injected next have the chances
// that the first ones of a new server with this seed have. What the old ones
// delay or hold already goes on.
func (s *Server) ClearFaults() { s.world.Faults.Remove("") }

// FaultSeed returns the seed of all probabilities. A run with the same seed,
// the same rules and the same order of requests has the same faults.
func (s *Server) FaultSeed() uint64 {
	seed, _ := s.world.Faults.List()
	return seed
}

// SeedFaults sets the seed and begins the counts of all rules anew; 0 chooses
// one. It returns the seed.
func (s *Server) SeedFaults(seed uint64) uint64 { return s.world.Faults.Reseed(seed) }

// FailNextMessage makes the next submission to the Email API that is not
// invalid fail with an internal error: its status is error, and Email.Error
// fires with "internal error; " and the text, or a usual one if it is empty.
// Called again before that, it makes one more fail.
func (s *Server) FailNextMessage(text string) {
	_, _ = s.world.Faults.Add([]fault.Fault{{Action: fault.InternalError, Body: text, Times: 1}}) // has no mistake
}

// SetLookupLimit says how the limit of lookups is counted from now on, until
// [Server.Reset].
func (s *Server) SetLookupLimit(limit LookupLimit) { s.world.Platform.SetLookups(limit) }

package mockserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// Inject adds rules to the end of the fault plan. It adds none if one of them
// has a mistake, which the error names.
//
// Requests are disturbed once their access token is known and before they are
// validated. Every rule counts all that it is about; of several that hit, the
// first acts.
func (s *Server) Inject(faults ...Fault) error {
	_, err := s.inject(faults)
	return err
}

func (s *Server) inject(faults []Fault) ([]FaultRule, error) {
	var errs []error
	for _, f := range faults {
		if f.Operation != "" && !slices.Contains(Operations(), f.Operation) {
			errs = append(errs, &faultError{"operation", fmt.Sprintf("%q is unknown", f.Operation)})
		}
		if f.Method != "" && !loadContract().takes(f.Method) {
			errs = append(errs, &faultError{"method", fmt.Sprintf("no operation takes %q", f.Method)})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s.platform.faults.add(faults)
}

// Faults returns the rules of the fault plan in the order in which they act,
// with what became of them so far.
func (s *Server) Faults() []FaultRule {
	_, rules := s.platform.faults.list()
	return rules
}

// RemoveFault removes a rule. It is an error if there is none with that id.
func (s *Server) RemoveFault(id string) error {
	if id == "" || s.platform.faults.remove(id) == 0 {
		return fmt.Errorf("mockserver: no fault %q", id)
	}
	return nil
}

// EnableFault switches a rule on or off. It is an error if there is none with
// that id.
func (s *Server) EnableFault(id string, on bool) error {
	if !s.platform.faults.change(id, func(r *FaultRule) { r.Enabled = on }) {
		return fmt.Errorf("mockserver: no fault %q", id)
	}
	return nil
}

// ClearFaults removes all rules: those that are injected next have the chances
// that the first ones of a new server with this seed have. What the old ones
// delay or hold already goes on.
func (s *Server) ClearFaults() { s.platform.faults.remove("") }

// FaultSeed returns the seed of all probabilities. A run with the same seed,
// the same rules and the same order of requests has the same faults.
func (s *Server) FaultSeed() uint64 {
	seed, _ := s.platform.faults.list()
	return seed
}

// SeedFaults sets the seed and begins the counts of all rules anew; 0 chooses
// one. It returns the seed.
func (s *Server) SeedFaults(seed uint64) uint64 { return s.platform.faults.reseed(seed) }

// FailNextMessage makes the next submission to the Email API that is not
// invalid fail with an internal error: its status is error, and Email.Error
// fires with "internal error; " and the text, or a usual one if it is empty.
// Called again before that, it makes one more fail.
func (s *Server) FailNextMessage(text string) {
	_, _ = s.platform.faults.add([]Fault{{Action: FaultInternalError, Body: text, Times: 1}}) // has no mistake
}

// SetLookupLimit says how the limit of lookups is counted from now on, until
// [Server.Reset].
func (s *Server) SetLookupLimit(limit LookupLimit) {
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	s.platform.cfg.Lookups = limit
}

// serveDisturbed carries out a request that a rule hit.
func (s *Server) serveDisturbed(x *exchange, rule *FaultRule, r *http.Request, act func()) {
	x.Fault = rule.ID
	rule.disturb(s.platform.faults.ctx, x, r, func(w http.ResponseWriter) {
		if w == http.ResponseWriter(x) {
			act()
			return
		}
		through := x.ResponseWriter
		x.ResponseWriter = w
		act()
		x.ResponseWriter, x.Status = through, 0 // what the client sees is still to come
	})
}

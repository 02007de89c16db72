package main

import (
	"errors"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestLostResponse: the platform sends the email, but its response is lost. The shop
// does not send the email again, but lists the order, so that a person can check it.
func TestLostResponse(t *testing.T) {
	platform, s := start(t)
	_, err := platform.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Times: 1})
	check(t, err)
	for i, want := range []error{client.ErrOutcomeUnknown, nil} {
		if err := s.confirm(t.Context(), "A-17", "ada@example.org"); !errors.Is(err, want) {
			t.Errorf("call %d: got %v, want %v", i+1, err, want)
		}
	}
	if sent := len(platform.Outbox()); sent != 1 {
		t.Errorf("%d emails were sent, want 1", sent)
	}
	if orders := s.toCheck(); len(orders) != 1 || orders[0] != "A-17" {
		t.Errorf("orders to check: %v, want A-17", orders)
	}
}

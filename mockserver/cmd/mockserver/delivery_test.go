package main

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestDeliveryFlags(t *testing.T) {
	o, err := parse([]string{"-delivery-concurrency", "1", "-attempt-timeout", "1500ms"}, io.Discard)
	if err != nil || o.config.DeliveryConcurrency != 1 || o.config.AttemptTimeout != 1500*time.Millisecond {
		t.Errorf("%d at a time, %v: %v", o.config.DeliveryConcurrency, o.config.AttemptTimeout, err)
	}
	for _, args := range [][]string{
		{"-delivery-concurrency", "0"}, {"-delivery-concurrency", "many"}, {"-attempt-timeout", "0"}, {"-attempt-timeout", "soon"},
	} {
		if _, err := parse(args, io.Discard); err == nil || !strings.Contains(err.Error(), "want ") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

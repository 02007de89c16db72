package webhooktest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/webhook"
)

func TestMemoryOnce(t *testing.T) {
	TestOnce(t, func(*testing.T) webhook.Once { return webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}) })
}

// TestSuiteCatches proves the suite: the named rules must be among those that
// report a broken store.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range brokenStores {
		t.Run(tt.fault, func(t *testing.T) {
			reported := failures(t, tt.do)
			for _, name := range tt.reported {
				if !slices.Contains(reported, name) {
					t.Errorf("%q does not report it; these do: %q", name, reported)
				}
			}
		})
	}
}

// failures returns the names of the rules that the store breaks. Its time is
// fake: a store that hangs takes none.
func failures(t *testing.T, do storeFunc) (names []string) {
	for _, r := range rules {
		synctest.Test(t, func(t *testing.T) {
			broken := brokenStore{webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}), do}
			if err := r.run(t.Context(), broken); err != nil {
				names = append(names, r.name)
			}
			time.Sleep(10 * patience) // until what hangs has ended
		})
	}
	return names
}

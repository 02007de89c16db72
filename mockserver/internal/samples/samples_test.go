package samples

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/model"
)

func TestSamplesAreEvents(t *testing.T) {
	samples, err := All()
	require.NoError(t, err)
	seen, ids := map[string]bool{}, map[string]bool{}
	for _, s := range samples {
		name := string(s.Event) + " " + s.Variant
		ev, err := events.Parse(s.Body)
		require.NoError(t, err, name)
		if _, unknown := ev.Data.(*events.Unknown); unknown || ev.Name != s.Event || s.Summary == "" {
			t.Errorf("%s: %T of %s, %q", name, ev.Data, ev.Name, s.Summary)
		}
		if seen[name] || ev.ID != "" && ids[ev.ID] {
			t.Errorf("%s or its id %s is not unique", name, ev.ID)
		}
		if age := time.Since(ev.Time); age < -time.Second || age > time.Minute {
			t.Errorf("%s has the time %v", name, ev.Time)
		}
		seen[name], ids[ev.ID] = true, true
	}
	for _, name := range api.EventNames() {
		if !slices.ContainsFunc(samples, func(s model.Sample) bool { return string(s.Event) == string(name) }) {
			t.Errorf("no sample of %s", name)
		}
	}
}

package emailotel_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// TestMonitoring compares the alert rules and the dashboard with recorded metrics: each metric, label and value that
// they use must exist, and they must use every metric.
func TestMonitoring(t *testing.T) {
	names, labels := exported(t)
	files := map[string]string{}
	for _, name := range []string{"alerts.yml", "alerts_test.yml", "dashboard.json"} {
		text, err := os.ReadFile("../../docs/monitoring/" + name)
		require.NoError(t, err)
		files[name] = string(text)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(files["dashboard.json"]), &dashboard); err != nil || len(dashboard.Panels) < 8 {
		t.Fatalf("%d panels, %v", len(dashboard.Panels), err)
	}
	files["dashboard.json"] = ""
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			files["dashboard.json"] += target.Expr + "\n"
		}
	}
	var (
		word   = regexp.MustCompile(`\b(?:emailplatform|messaging|http|error)_\w+`)
		equals = regexp.MustCompile(`(\w+)="([^"]*)"`)
		by     = regexp.MustCompile(`by \(([^)]*)\)`)
	)
	for file, text := range files {
		for _, w := range word.FindAllString(text, -1) {
			if _, isLabel := labels[w]; !names[w] && !isLabel {
				t.Errorf("%s: there is no metric or label %s", file, w)
			}
		}
		for _, m := range equals.FindAllStringSubmatch(text, -1) {
			if values := labels[m[1]]; m[1] != "le" && m[1] != "instance" && m[2] != "" && !values[m[2]] {
				t.Errorf("%s: no metric has %s; it has %v", file, m[0], values)
			}
		}
		for _, m := range by.FindAllStringSubmatch(text, -1) {
			for label := range strings.SplitSeq(m[1], ", ") {
				if label != "le" && labels[label] == nil {
					t.Errorf("%s: there is no label %s", file, label)
				}
			}
		}
	}
	for name := range names {
		metric := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count"), "_sum")
		if !strings.Contains(files["dashboard.json"], metric) || !strings.Contains(files["alerts.yml"], metric) {
			t.Errorf("the dashboard or the rules do not use %s", metric)
		}
	}
}

// exported returns the names of all metrics and the labels with their values, in the format of Prometheus.
func exported(t *testing.T) (names map[string]bool, labels map[string]map[string]bool) {
	t.Helper()
	r := record(t)
	recordAll(t, r)
	names, labels = map[string]bool{}, map[string]map[string]bool{}
	r.series(func(m metricdata.Metrics, attributes attribute.Set, _ uint64) {
		name := strings.ReplaceAll(m.Name, ".", "_")
		switch m.Data.(type) {
		case metricdata.Sum[int64]: // the unit {request} is not a suffix
			names[name+"_total"] = true
			return
		case metricdata.Gauge[int64]:
			names[name] = true
		case metricdata.Gauge[float64]:
			names[name+"_seconds"] = true
		default:
			require.Equal(t, "s", m.Unit, "%s: unit", name)
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				names[name+"_seconds"+suffix] = true
			}
		}
		for _, a := range attributes.ToSlice() {
			label := strings.ReplaceAll(string(a.Key), ".", "_")
			if labels[label] == nil {
				labels[label] = map[string]bool{}
			}
			labels[label][a.Value.String()] = true
		}
	})
	return names, labels
}

// recordAll records the outcomes that the rules use.
func recordAll(t *testing.T, r *recorder) {
	t.Helper()
	srv := startServer(t)
	c := r.client(srv, nil)
	_, _ = c.Lists.List(t.Context(), client.ListListsParams{})
	_, _ = c.Emails.Get(t.Context(), "00000000-0000-4000-8000-000000000000")
	send := func(to string) { _, _ = c.Emails.Send(t.Context(), email(to)) }
	send("ada@example.org")
	send("error@mock.test")
	for _, status := range []int{401, 503} {
		_, err := srv.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: status, Times: 1})
		require.NoError(t, err)
		send("ada@example.org")
	}
	for _, result := range []error{nil, errors.New("failed")} {
		r.receive(func(context.Context, *events.Event) error { return result }, opened)
	}
	r.room(c)
	r.receive(func(context.Context, *events.Event) error { return nil }, opened, func(req *http.Request) { req.Header.Del(webhook.DefaultSignatureHeader) })
}

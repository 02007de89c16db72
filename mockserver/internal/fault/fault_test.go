package fault

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/model"
)

func newPlan(t *testing.T, faults ...model.Fault) *Plan {
	t.Helper()
	p := New(1, slog.New(slog.DiscardHandler), &changes.Feed{})
	t.Cleanup(p.Close)
	if _, err := p.Add(faults); err != nil {
		t.Fatal(err)
	}
	return p
}

// Each rule counts all requests that it matches, but only the first rule that applies causes a fault.
func TestCounting(t *testing.T) {
	p := newPlan(t,
		model.Fault{Action: model.FaultReset, Nth: 2},
		model.Fault{Action: model.FaultHang, Every: 2},
		model.Fault{Action: model.FaultStatus, Times: 1},
		model.Fault{Action: model.FaultDrop},
	)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/lists", nil)
	var got []string
	for range 5 {
		id := "none"
		if rule := p.MatchRequest(1, "listLists", r); rule != nil {
			id = rule.ID
		}
		got = append(got, id)
	}
	assert.Equal(t, []string{"fault-3", "fault-1", "none", "fault-2", "none"}, got)
	_, rules := p.List()
	for i, want := range []struct{ matched, applied int }{{5, 1}, {5, 1}, {5, 1}, {0, 0}} {
		assert.Equal(t, want.matched, rules[i].Matched, rules[i].ID)
		assert.Equal(t, want.applied, rules[i].Applied, rules[i].ID)
	}
	assert.True(t, p.Change("fault-3", func(r *model.FaultRule) { r.Enabled = false }))
	assert.NotNil(t, p.MatchRequest(1, "listLists", r))
	if _, rules := p.List(); rules[2].Matched != 5 {
		t.Errorf("a disabled rule counts requests: %d", rules[2].Matched)
	}
}

// A call of Set for an existing rule restarts its random stream, so the replacement behaves like a new rule
// with the same seed. A reset of one account does not make the rules of other accounts repeat their choices.
func TestStreamsRestart(t *testing.T) {
	var logged bytes.Buffer
	p := New(1, slog.New(slog.NewTextHandler(&logged, nil)), &changes.Feed{})
	t.Cleanup(p.Close)
	random := model.Fault{Action: model.FaultReset, Probability: 0.5}
	_, err := p.Add([]model.Fault{{Action: model.FaultReset}, random})
	require.NoError(t, err)
	_, err = p.Set("fault-1", random)
	require.NoError(t, err)
	assert.Contains(t, logged.String(), "rule=fault-1 seed=1")
	first := p.rules[0].random.Uint64()
	assert.Equal(t, rand.New(rand.NewPCG(1, 3)).Uint64(), first, "the third stream")
	choice := p.Random().Uint64()
	p.RemoveOf(0)
	assert.NotEqual(t, choice, p.Random().Uint64(), "a reset of an account repeated the choices")
	p.RemoveAll()
	assert.Equal(t, choice, p.Random().Uint64())
}

func TestMatching(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/lists/7/contacts", nil)
	for name, row := range map[string]struct {
		fault model.Fault
		match bool
	}{
		"everything":        {model.Fault{}, true},
		"operation":         {model.Fault{Operation: "createContact"}, true},
		"other operation":   {model.Fault{Operation: "listContacts"}, false},
		"method":            {model.Fault{Method: "POST"}, true},
		"other method":      {model.Fault{Method: "GET"}, false},
		"path":              {model.Fault{Path: "/lists/7/contacts"}, true},
		"asterisk":          {model.Fault{Path: "/lists/*/contacts"}, true},
		"braces":            {model.Fault{Path: "/lists/{list_id}/contacts"}, true},
		"beginning of path": {model.Fault{Path: "/lists/7"}, false},
		"account":           {model.Fault{AccountID: 1}, true},
		"other account":     {model.Fault{AccountID: 2}, false},
		"one of two":        {model.Fault{Operation: "createContact", Method: "GET"}, false},
	} {
		row.fault.Action = model.FaultStatus
		p := newPlan(t, row.fault)
		assert.Equal(t, row.match, p.MatchRequest(1, "createContact", r) != nil, "%s: a rule matches", name)
	}
	for name, row := range map[string]struct {
		fault model.Fault
		match bool
	}{
		"event":         {model.Fault{Action: model.FaultDrop, Event: "Email.Bounced"}, true},
		"any event":     {model.Fault{Action: model.FaultDrop, Event: "*"}, true},
		"other event":   {model.Fault{Action: model.FaultDrop, Event: "Email.Opened"}, false},
		"webhook":       {model.Fault{Action: model.FaultDelay, Delay: 1, WebhookID: "3"}, true},
		"other webhook": {model.Fault{Action: model.FaultDelay, Delay: 1, WebhookID: "4"}, false},
		"account":       {model.Fault{Action: model.FaultDrop, AccountID: 1}, true},
		"other account": {model.Fault{Action: model.FaultDrop, AccountID: 2}, false},
		"of requests":   {model.Fault{Action: model.FaultDelay, Delay: 1}, false},
	} {
		assert.Equal(t, row.match, newPlan(t, row.fault).MatchDelivery(1, "Email.Bounced", "3") != nil, "%s: a rule matches", name)
	}
}

// The error of an invalid fault contains the names of the fields in JSON.
func TestInvalid(t *testing.T) {
	const status, late = model.FaultStatus, "delay_ms: must be between 0 and 86400000"
	for _, row := range []struct {
		fault model.Fault
		want  string
	}{
		{model.Fault{Action: status, Delay: -1}, late},
		{model.Fault{Action: status, Delay: 24*time.Hour + 1}, late},
		{model.Fault{Action: status, Delay: 24 * time.Hour}, ""},
		{model.Fault{Action: model.FaultDelay, Delay: 1}, ""},
		{model.Fault{Action: model.FaultDelay}, "delay_ms: is required by delay"},
		{model.Fault{Action: status, Probability: math.NaN()}, "probability: must be a finite number"},
		{model.Fault{Action: status, Nth: 1, Every: 1, Probability: 1}, "probability: must be the only one of nth, every and probability"},
		{model.Fault{Action: model.FaultDrop, Status: 400}, "status: must be omitted, because drop does not read it"},
		{model.Fault{Action: status, Event: "*", RetryAfter: "1"}, "retry_after: must be omitted, because status reads it only for requests"},
		{model.Fault{Action: status, Event: "*", Path: "/"}, "path: must be omitted, because status does not apply to requests in this rule"},
		{model.Fault{Action: model.FaultTruncate, WebhookID: "1"}, "webhook_id: must be omitted, because truncate does not apply to deliveries"},
	} {
		assert.Equal(t, row.want, check(row.fault).Error(), "%+v", row.fault)
	}
}

// A rule of an account counts only messages of this account, and RemoveOf removes only the rules of the account.
func TestAccounts(t *testing.T) {
	p := newPlan(t, model.Fault{AccountID: 2, Action: model.FaultInternalError, Nth: 2}, model.Fault{Action: model.FaultInternalError, Nth: 3})
	var got []string
	for _, account := range []int64{2, 1, 2, 1, 2} {
		id := "none"
		if rule := p.MatchMessage(account); rule != nil {
			id = rule.ID
		}
		got = append(got, id)
	}
	if want := []string{"none", "none", "fault-1", "none", "none"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: the second message of account 2 is the third of all", got, want)
	}
	p.RemoveOf(2)
	_, rules := p.List()
	require.Len(t, rules, 1)
	assert.Equal(t, "fault-2", rules[0].ID)
	assert.Equal(t, 5, rules[0].Matched)
}

//go:generate go test -run ^TestConstants$ -update

var update = flag.Bool("update", false, "write the constants of the actions")

// TestConstants: packages model and mockserver have a constant for each action, with its effect, targets and fields.
func TestConstants(t *testing.T) {
	fields := []string{"`delay_ms`", "Delay"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[model.Fault]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, "`"+name+"`", f.Name)
	}
	inGo := strings.NewReplacer(append(fields, "`", "")...)
	for file, head := range map[string]string{
		"../../model/faultactions.gen.go": "model\n",
		"../../faultactions.gen.go":       "mockserver\n\nimport \"example.com/emailplatform/mockserver/model\"\n",
	} {
		source := "// Code generated by go generate ./mockserver/internal/fault from the table of actions. DO NOT EDIT.\n\npackage " + head
		source += "\n// The fault actions.\nconst (\n"
		for _, a := range table {
			value := fmt.Sprintf("FaultAction = %q", a.Name)
			if strings.Contains(head, "import") {
				value = "= model." + a.constant
			}
			effect := inGo.Replace(strings.ToLower(a.Effect[:1]) + a.Effect[1:])
			source += fmt.Sprintf("\t// %s %s\n\t// Targets: %s. Fields: %s.\n\t%[1]s %[5]s\n",
				a.constant, effect, strings.Join(a.Targets, ", "), inGo.Replace(a.fields()), value)
		}
		source += ")\n"
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
		}
		written, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, source, string(written), "run go generate ./mockserver/internal/fault")
	}
}

// TestApplyIsComplete: Apply implements each action for requests.
func TestApplyIsComplete(t *testing.T) {
	for _, action := range Actions() {
		if !slices.Contains(action.Targets, "request") {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // ends a hanging request
			defer cancel()
			defer func() {
				if r := recover(); r != nil && r != http.ErrAbortHandler {
					t.Errorf("Apply: %v", r)
				}
			}()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/lists", http.NoBody)
			s := AppliedRule{model.FaultRule{Fault: model.Fault{Action: action.Name}}, t.Context()}
			s.Apply(httptest.NewRecorder(), r, func(http.ResponseWriter) {})
		})
	}
}

// A client that gives up does not prevent the processing of a request whose rule has no delay.
func TestAfterProcessingWithoutClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the client has closed the connection
	for range 100 {
		processed := false
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/lists", http.NoBody)
			s := AppliedRule{model.FaultRule{Fault: model.Fault{Action: model.FaultHang, AfterProcessing: true}}, t.Context()}
			s.Apply(httptest.NewRecorder(), r, func(http.ResponseWriter) { processed = true })
		})
		require.True(t, processed)
	}
}

package canary

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

func TestVerifierErrors(t *testing.T) {
	w := newWatch(t)
	for name, args := range map[string][2]string{
		"a weak function":     {canaryKey, "md5"},
		"an unknown function": {canaryKey, "sha-256"},
		"a line break":        {canaryKey + "\n", "sha256"},
	} {
		secret, err := webhook.ParseSecret(args[0], args[1])
		w.showError(name, err)
		w.show(name, secret)
	}
	secret, err := webhook.ParseSecret(canaryKey, "")
	must(t, err)
	w.show("a secret", secret, &secret, []webhook.Secret{secret}, struct{ hidden webhook.Secret }{secret})
	_, err = webhook.NewVerifier(secret, webhook.Secret{})
	w.showError("an empty one too", err)
	v, err := webhook.NewVerifier(secret)
	must(t, err)
	body := []byte(`{"event":"Email.Error"}`)
	signature, err := webhook.Sign(secret, body)
	must(t, err)
	w.plant("signature", signature)
	w.show("a verifier", v, secret)
	w.showError("another body", v.Verify([]byte(canaryToken), signature))
	w.showError("half a signature", v.Verify(body, signature[1:]))
}

// delivery is one that something is wrong with.
type delivery struct {
	body     string
	signWith string
	handle   error
	panic    any
}

// TestReceiver searches the log, the outcome and the response of each delivery.
// The body of a delivery counts as a secret, because it contains an email address.
func TestReceiver(t *testing.T) {
	const good = `{"id":"e1","event":"Email.Error","data":{"error":"internal error; ` + canaryPassword + `"}}`
	for name, d := range map[string]delivery{
		"handled":                 {body: good, signWith: canaryKey},
		"signed by somebody else": {body: good, signWith: "another key"},
		"not signed":              {body: good},
		"not an event":            {body: `{"event":["` + canaryPassword + `"]}`, signWith: canaryKey},
		"not JSON":                {body: canaryPassword, signWith: canaryKey},
		"cut short":               {body: good[:len(good)-3], signWith: canaryKey},
		"too large":               {body: good + strings.Repeat(" ", 2<<20), signWith: canaryKey},
		"the function fails":      {body: good, signWith: canaryKey, handle: errors.New("no space left")},
		"the function panics":     {body: good, signWith: canaryKey, panic: "out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatch(t)
			var outcomes []webhook.Outcome
			parsed, err := webhook.ParseSecret(canaryKey, "")
			must(t, err)
			v, err := webhook.NewVerifier(parsed)
			must(t, err)
			h := webhook.NewHandler(v, func(context.Context, *events.Event) error {
				if d.panic != nil {
					panic(d.panic)
				}
				return d.handle
			}, webhook.Options{Logger: w.logger("the receiver"), Observe: func(_ context.Context, o webhook.Outcome) {
				outcomes = append(outcomes, o)
			}})
			req := httptest.NewRequestWithContext(t.Context(), "POST", "/hook", strings.NewReader(d.body))
			if d.signWith != "" {
				parsed, err := webhook.ParseSecret(d.signWith, "")
				must(t, err)
				signature, err := webhook.Sign(parsed, []byte(d.body))
				must(t, err)
				w.plant("signature", signature)
				req.Header.Set(webhook.DefaultSignatureHeader, signature)
			}
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, req)
			w.listen("the answer", answer.Body.String())
			w.show("the answer's headers", answer.Header())
			if len(outcomes) != 1 || w.heard == 0 {
				t.Fatalf("%d outcomes, %d texts heard, want one, and some", len(outcomes), w.heard)
			}
			o := outcomes[0]
			o.Event = nil // the application's own
			w.show("the outcome", o)
			if answer.Code/100 != 2 {
				w.showError("the outcome's error", o.Err)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

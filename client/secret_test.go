package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSecret(t *testing.T) {
	s := NewSecret(testToken)
	if s.Reveal() != testToken || s != NewSecret(testToken) || s == NewSecret("t") || NewSecret("") != (Secret{}) || (Secret{}).Reveal() != "" {
		t.Error("NewSecret, Reveal or == returns a wrong result")
	}
	for _, v := range []any{map[Secret]int{s: 1}, map[string]Secret{"k": s}, []Secret{s}, struct{ S *Secret }{&s}, s} {
		text, err := json.Marshal(v)
		require.NoError(t, err, "%+v", v)
		assert.NotContains(t, string(text), testToken, "%+v", v)
		assert.Contains(t, string(text), redacted, "%+v", v)
	}
	hidesToken(t, s, map[Secret]Secret{s: s}, struct{ s Secret }{s}, struct{ m map[Secret][]Secret }{map[Secret][]Secret{s: {s}}})
	assert.Equal(t, redacted+redacted, s.String()+fmt.Sprint(s))
	var back map[Secret]int
	err := json.Unmarshal([]byte(`{"k":1}`), &back)
	require.NoError(t, err)
	assert.Equal(t, 1, back[NewSecret("k")])
}

// TestConfigPrinted: a printed Config contains the kind of its token and the base URL without secrets.
func TestConfigPrinted(t *testing.T) {
	source := func(context.Context) (Token, error) { return Token{Value: testToken}, nil }
	for want, cfg := range map[string]Config{
		"client.Config{BaseURL: https://x.example/v2, Token: none}":          {BaseURL: "https://x.example/v2"},
		"client.Config{BaseURL: https://x.example, Token: " + redacted + "}": {BaseURL: "https://x.example?key=" + testToken, Token: testToken},
		"client.Config{BaseURL: https://x.example, Token: from a source}":    {BaseURL: "https://x.example#" + testToken, TokenSource: source},
		"client.Config{BaseURL: https://u:xxxxx@x.example, Token: none}":     {BaseURL: "https://u:" + testToken + "@x.example"},
		"client.Config{BaseURL: invalid, Token: none}":                       {BaseURL: "user:" + testToken + "@x.example"},
		"client.Config{BaseURL: invalid, Token: from a source}":              {BaseURL: "https://" + testToken + "@[::1", TokenSource: source},
	} {
		assert.Equal(t, want, fmt.Sprintf("%v", cfg))
	}
}

func TestShortTokenKeepsFields(t *testing.T) {
	for _, token := range []string{"name", "want", "json", "a", "policy_accepted"} {
		c := newTestClient(t, respondWith(201, "application/json", `{"list_id":{},"name":"n","policy_accepted":true}`), func(cfg *Config) { cfg.Token = token })
		list, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"})
		assert.Equal(t, List{Name: "n", PolicyAccepted: true}, list, "token %q", token)
		assert.ErrorIs(t, err, ErrInvalidResponse, "token %q", token)
		assert.ErrorIs(t, err, ErrOutcomeUnknown, "token %q", token)
	}
}

// TestTokenAsID: if an application passes the token as an id, the log and the error of a response do not contain the
// token.
func TestTokenAsID(t *testing.T) {
	var log strings.Builder
	c := newTestClient(t, respondWith(404, "application/json", `{}`), func(cfg *Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	_, err := c.Emails.Get(t.Context(), testToken)
	hidesToken(t, err)
	assert.Contains(t, log.String(), "emails/"+redacted)
	assert.ErrorContains(t, err, "emails/"+redacted)
}

// TestRedactEncodedToken: redact replaces encoded forms of a token, and changes no other text.
func TestRedactEncodedToken(t *testing.T) {
	const token = `a"&/`
	for text, want := range map[string]string{
		`x` + token + `y`:     "x" + redacted + "y",
		`a\"&\/`:              redacted,
		`a\u0022\u0026\u002F`: redacted,
		`a%22%26%2f`:          redacted,
		`a&quot;&amp;/`:       redacted,
		`a&#34;&#x26;/`:       redacted,
		`\a\"\&\/`:            redacted,
		`a\'&/`:               `a\'&/`,
		`a%23&/`:              `a%23&/`,
		`ax22&/`:              `ax22&/`,
		`a"&\`:                `a"&\`,
		`a"&%`:                `a"&%`,
		`a"&%2`:               `a"&%2`,
		`a"&\u00`:             `a"&\u00`,
		`a&`:                  `a&`,
		`\`:                   `\`,
	} {
		assert.Equal(t, want, redact(text, token), text)
	}
}

func TestWebhookJSONOmitsSecret(t *testing.T) {
	text, err := json.Marshal(Webhook{Secret: NewSecret("s")})
	require.NoError(t, err)
	var back Webhook
	if err := json.Unmarshal(text, &back); err == nil || back.Secret != (Secret{}) {
		t.Errorf("%s became the secret %q: %v", text, back.Secret.Reveal(), err)
	}
}

// hidesToken fails if fmt or slog prints testToken.
func hidesToken(t *testing.T, values ...any) {
	t.Helper()
	for _, v := range values {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", v)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			fmt.Fprintf(&log, verb, v)
			fmt.Fprintf(&log, verb, []any{v})
		}
		assert.NotContains(t, log.String(), testToken, "%T shows the token", v)
		assert.NotContains(t, log.String(), fmt.Sprintf("%x", testToken), "%T shows the token", v)
	}
}

package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-github/v82/github"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"
	svix "github.com/svix/svix-webhooks/go"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

const byHand = "by hand"

const hookSecret = "a secret of thirty-two characters"

func verifyContests() []contest {
	return []contest{
		{name: "verify", items: 1, unit: "bodies", local: true, decodes: true, setup: func(*arena) ([]contender, error) {
			return verifiers(bytes.Repeat([]byte("x"), 1024))
		}},
		{name: "verify and decode", items: 6, unit: "deliveries", local: true, decodes: true, setup: func(*arena) ([]contender, error) { return receivers() }},
	}
}

// verifiers check the same body of 1 KiB, each signed in its own way.
func verifiers(body []byte) ([]contender, error) {
	all, err := newSchemes([][]byte{body})
	if err != nil {
		return nil, err
	}
	contenders := []contender{
		{name: "this SDK", op: all.ours},
		{name: "bare SHA-256, no HMAC", op: func() error { sha256.Sum256(body); return nil }, want: 1 / 1.3},
	}
	for _, s := range all.others {
		contenders = append(contenders, contender{name: s.name, op: func() error { return s.verify(0) }})
	}
	return contenders, nil
}

// receivers verify and decode the mix.
func receivers() ([]contender, error) {
	bodies, err := deliveries()
	if err != nil {
		return nil, err
	}
	all, err := newSchemes(bodies)
	if err != nil {
		return nil, err
	}
	contenders := []contender{{name: "this SDK", op: func() error {
		if err := all.ours(); err != nil {
			return err
		}
		return each(bodies, func(body []byte) error { _, err := events.Parse(body); return err })
	}}}
	for _, s := range all.others {
		want := 7.0
		if s.name == byHand {
			want = byRelease(7, 0) // the target for Go 1.27 is about libraries
		}
		contenders = append(contenders,
			contender{name: s.name + ", a type for each shape", want: want, op: s.receiver(bodies, byShape)},
			contender{name: s.name + ", one type for all bounces", op: s.receiver(bodies, twoPasses)})
	}
	ofStripe, err := stripeReceiver(bodies)
	if err != nil {
		return nil, err
	}
	ofGitHub, err := githubReceiver(bodies)
	if err != nil {
		return nil, err
	}
	return append(contenders, ofGitHub, ofStripe), nil
}

func each(bodies [][]byte, do func([]byte) error) error {
	for _, body := range bodies {
		if err := do(body); err != nil {
			return err
		}
	}
	return nil
}

// schemes are ways to sign the same bodies.
type schemes struct {
	ours   func() error
	others []scheme
}

type scheme struct {
	name   string
	verify func(i int) error
}

func (s scheme) receiver(bodies [][]byte, decode func([]byte) error) func() error {
	return func() error {
		for i, body := range bodies {
			if err := s.verify(i); err != nil {
				return err
			}
			if err := decode(body); err != nil {
				return err
			}
		}
		return nil
	}
}

func newSchemes(bodies [][]byte) (*schemes, error) {
	secret := webhook.Secret{Key: hookSecret}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return nil, err
	}
	standardHook, err := standard.NewWebhookRaw([]byte(hookSecret))
	if err != nil {
		return nil, err
	}
	svixHook, err := svix.NewWebhookRaw([]byte(hookSecret))
	if err != nil {
		return nil, err
	}
	var signatures []string
	var ofStandard, ofSvix []http.Header
	for _, body := range bodies {
		signature, err := webhook.Sign(secret, body)
		if err != nil {
			return nil, err
		}
		signatures = append(signatures, signature)
		a, err := signed("webhook", body, standardHook.Sign)
		if err != nil {
			return nil, err
		}
		b, err := signed("svix", body, svixHook.Sign)
		if err != nil {
			return nil, err
		}
		ofStandard, ofSvix = append(ofStandard, a), append(ofSvix, b)
	}
	key := []byte(hookSecret)
	return &schemes{
		ours: func() error {
			for i, body := range bodies {
				if err := verifier.Verify(body, signatures[i]); err != nil {
					return err
				}
			}
			return nil
		},
		others: []scheme{
			{byHand, func(i int) error { return naiveVerify(key, bodies[i], signatures[i]) }},
			{"standard-webhooks", func(i int) error { return standardHook.VerifyIgnoringTimestamp(bodies[i], ofStandard[i]) }},
			{"svix-webhooks", func(i int) error { return svixHook.VerifyIgnoringTimestamp(bodies[i], ofSvix[i]) }},
		},
	}, nil
}

// signed returns the headers that both Svix and Standard Webhooks read.
func signed(prefix string, body []byte, sign func(string, time.Time, []byte) (string, error)) (http.Header, error) {
	const id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"
	now := time.Now()
	signature, err := sign(id, now, body)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	h.Set(prefix+"-id", id)
	h.Set(prefix+"-timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set(prefix+"-signature", signature)
	return h, nil
}

// stripeReceiver decodes events of Stripe, up to the object within.
func stripeReceiver(like [][]byte) (contender, error) {
	// Stripe's envelope is longer than our shortest delivery: the last one is made longer, the first one shorter.
	const least = 300
	lengths, last := slices.Clone(like), len(like)-1
	if lack := least - len(like[last]); lack > 0 {
		lengths[last] = make([]byte, least)
		lengths[0] = lengths[0][:len(lengths[0])-lack]
	}
	bodies, err := likes(lengths, stripeBody)
	if err != nil {
		return contender{}, err
	}
	var headers []string
	for _, body := range bodies {
		headers = append(headers, stripehook.GenerateTestSignedPayload(&stripehook.UnsignedPayload{Payload: body, Secret: hookSecret}).Header)
	}
	return contender{name: "stripe-go, its own events", want: 4, op: func() error {
		for i, body := range bodies {
			ev, err := stripehook.ConstructEventIgnoringTolerance(body, headers[i], hookSecret)
			if err != nil {
				return err
			}
			var customer stripe.Customer
			if err := json.Unmarshal(ev.Data.Raw, &customer); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// githubReceiver decodes events of GitHub.
func githubReceiver(like [][]byte) (contender, error) {
	bodies, err := likes(like, githubBody)
	if err != nil {
		return contender{}, err
	}
	var signatures []string
	for _, body := range bodies {
		mac := hmac.New(sha256.New, []byte(hookSecret))
		_, _ = mac.Write(body)
		signatures = append(signatures, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return contender{name: "go-github, its own events", want: byRelease(4, 5.2), op: func() error {
		for i, body := range bodies {
			payload, err := github.ValidatePayloadFromBody("application/json", bytes.NewReader(body), signatures[i], []byte(hookSecret))
			if err != nil {
				return err
			}
			if _, err := github.ParseWebHook("issues", payload); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

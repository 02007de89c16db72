package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v82/github"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"
	svix "github.com/svix/svix-webhooks/go"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

const hookSecret = "a secret of thirty-two characters"

// scheme is a signature scheme. verify reports whether the body with the index i is valid.
type scheme struct {
	name   string
	verify func(i int) bool
}

// schemes returns the ways to verify the bodies. The first one is the SDK's.
func schemes(bodies [][]byte) []scheme {
	key, secret := []byte(hookSecret), must(webhook.ParseSecret(hookSecret, ""))
	verifier := must(webhook.NewVerifier(secret))
	standardHook, svixHook := must(standard.NewWebhookRaw(key)), must(svix.NewWebhookRaw(key))
	var signatures []string
	var ofStandard, ofSvix []http.Header
	for _, body := range bodies {
		signatures = append(signatures, must(webhook.Sign(secret, body)))
		ofStandard = append(ofStandard, signed("webhook", body, standardHook.Sign))
		ofSvix = append(ofSvix, signed("svix", body, svixHook.Sign))
	}
	return []scheme{
		{"sdk", func(i int) bool { return verifier.Verify(bodies[i], signatures[i]) == nil }},
		{"by-hand", func(i int) bool { return naiveVerify(key, bodies[i], signatures[i]) }},
		{"standard-webhooks", func(i int) bool { return standardHook.VerifyIgnoringTimestamp(bodies[i], ofStandard[i]) == nil }},
		{"svix", func(i int) bool { return svixHook.VerifyIgnoringTimestamp(bodies[i], ofSvix[i]) == nil }},
	}
}

// TestSchemes: each scheme accepts the signed body and rejects a forged body.
func TestSchemes(t *testing.T) {
	body := []byte("signed")
	for _, s := range schemes([][]byte{body}) {
		copy(body, "signed")
		signed := s.verify(0)
		copy(body, "forged")
		if !signed || s.verify(0) {
			t.Errorf("%s rejects the signed body or accepts the forged one", s.name)
		}
	}
}

// signed returns the headers that Svix and Standard Webhooks read.
func signed(prefix string, body []byte, sign func(string, time.Time, []byte) (string, error)) http.Header {
	const id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"
	now, h := time.Now(), http.Header{}
	h.Set(prefix+"-id", id)
	h.Set(prefix+"-timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set(prefix+"-signature", must(sign(id, now, body)))
	return h
}

// BenchmarkVerify verifies a body of 1 KiB.
func BenchmarkVerify(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1024)
	for _, s := range schemes([][]byte{body}) {
		compare(b, s.name, func() { s.verify(0) })
	}
	compare(b, "sha256", func() { sha256.Sum256(body) })
}

// BenchmarkVerifyAndDecode verifies and decodes six events. For go-github and stripe-go, these are events of GitHub and
// Stripe with the same sizes.
func BenchmarkVerifyAndDecode(b *testing.B) {
	bodies := deliveries()
	receive := func(s scheme, decode func([]byte)) func() {
		return func() {
			for i, body := range bodies {
				if !s.verify(i) {
					panic(s.name)
				}
				decode(body)
			}
		}
	}
	all, decoder := schemes(bodies), unmarshal(json.Unmarshal)
	compare(b, "sdk", receive(all[0], parse))
	compare(b, "sha256", each(bodies, func(body []byte) { sha256.Sum256(body) }))
	for _, s := range all[1:] {
		compare(b, s.name, receive(s, decoder.typed))
		compare(b, s.name+"-one-bounce-type", receive(s, decoder.oneBounce))
	}
	length := len(bytes.Join(bodies, nil)) / len(bodies)
	compare(b, "go-github", each(bodies, githubReceiver(length)))
	compare(b, "stripe-go", each(bodies, stripeReceiver(length)))
}

func githubReceiver(length int) func([]byte) {
	body := padded(`{"action":"opened","sender":{"login":"ada","id":1204,"type":"User"},"issue":{"id":66012,"node_id":"MDU6SXNzdWUx","number":17,`+
		`"title":"Message blocked by the policy","state":"open","locked":false,"comments":0,"user":{"login":"ada","id":1204,"type":"User","site_admin":false},`+
		`"labels":[{"id":208045946,"name":"bug","color":"d73a4a","default":true}],"assignee":null,"milestone":null,"created_at":"2025-11-20T10:00:00Z",`+
		`"updated_at":"2025-11-20T10:00:00Z","closed_at":null,"html_url":"https://github.com/octo/shop/issues/17","body":"FILL"}}`, length)
	mac := hmac.New(sha256.New, []byte(hookSecret))
	_, _ = mac.Write(body)
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return func([]byte) {
		payload := must(github.ValidatePayloadFromBody("application/json", bytes.NewReader(body), signature, []byte(hookSecret)))
		must(github.ParseWebHook("issues", payload))
	}
}

// stripeReceiver verifies and decodes an event, including the object in the event.
func stripeReceiver(length int) func([]byte) {
	body := padded(`{"id":"evt_1NG8Du2eZvKYlo2C","object":"event","api_version":"`+stripe.APIVersion+`","created":1763651300,"livemode":false,`+
		`"pending_webhooks":1,"type":"customer.updated","data":{"object":{"object":"customer","id":"cus_NffrFeUfNV2Hib","email":"ada@example.org",`+
		`"balance":0,"created":1680893993,"currency":null,"default_source":null,"delinquent":false,"address":{"city":"Bonn","country":"DE",`+
		`"line1":"Am Hof 1","line2":null,"postal_code":"53113","state":null},"invoice_prefix":"0759376C","livemode":false,`+
		`"metadata":{"order":"2231","plan":"gold"},"name":"Ada Lovelace","description":"FILL"}}}`, length)
	header := stripehook.GenerateTestSignedPayload(&stripehook.UnsignedPayload{Payload: body, Secret: hookSecret}).Header
	return func([]byte) {
		event := must(stripehook.ConstructEventIgnoringTolerance(body, header, hookSecret))
		check(json.Unmarshal(event.Data.Raw, new(stripe.Customer)))
	}
}

// padded returns an event of exactly length bytes.
func padded(event string, length int) []byte {
	return []byte(strings.Replace(event, "FILL", strings.Repeat("x", length-len(event)+len("FILL")), 1))
}

// naiveVerify follows the example in the specification.
func naiveVerify(key, body []byte, signature string) bool {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(body)
	got, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && hmac.Equal(got, mac.Sum(nil))
}

// BenchmarkReceive receives 320 deliveries over eight connections. The senders write bytes that were created in
// advance, so the receiver takes most of the measured time.
func BenchmarkReceive(b *testing.B) {
	secret := must(webhook.ParseSecret(hookSecret, ""))
	requests := rawRequests(secret, 6*320)
	compareReceiver(b, "sdk", requests, webhook.NewHandler(must(webhook.NewVerifier(secret)), func(context.Context, *events.Event) error { return nil }, webhook.Options{
		Once: webhook.NewMemoryOnce(webhook.MemoryOnceOptions{MaxEntries: len(requests) / 2}), // so each event is new
	}))
	compareReceiver(b, "by-hand-without-deduplication", requests, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := must(io.ReadAll(r.Body))
		if !naiveVerify([]byte(hookSecret), body, r.Header.Get("X-Service-Signature")) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		unmarshal(json.Unmarshal).oneBounce(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	compareReceiver(b, "net/http-discard", requests, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		must(io.Copy(io.Discard, r.Body))
		w.WriteHeader(http.StatusNoContent)
	}))
}

// rawRequests returns n deliveries as bytes on the wire. Each event has an id of its own.
func rawRequests(secret webhook.Secret, n int) (requests [][]byte) {
	bodies := deliveries()
	for i := range n {
		body := fmt.Appendf(bytes.TrimSuffix(bytes.Clone(bodies[i%len(bodies)]), []byte("}")), `,"id":"5c0b1e6e-3f0e-4a52-9d5a-%012d"}`, i)
		var raw bytes.Buffer
		check(must(webhook.NewRequest(context.Background(), "http://127.0.0.1/", secret, body)).Write(&raw))
		requests = append(requests, raw.Bytes())
	}
	return requests
}

func compareReceiver(b *testing.B, impl string, requests [][]byte, h http.Handler) {
	address := strings.TrimPrefix(serve(b, h), "http://")
	var senders []func()
	for i := range connections {
		conn := must(net.Dial("tcp", address))
		b.Cleanup(func() { conn.Close() })
		responses, next := bufio.NewReader(conn), i*len(requests)/connections
		senders = append(senders, func() {
			must(conn.Write(requests[next%len(requests)]))
			next++
			if status := must(responses.ReadString('\n')); !strings.Contains(status, " 204 ") {
				panic(status)
			}
			for len(must(responses.ReadSlice('\n'))) > len("\r\n") { // a 204 has no body
			}
		})
	}
	compare(b, impl, func() { parallel(connections, 320, func(worker, _ int) { senders[worker]() }) })
}

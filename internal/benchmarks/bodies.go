package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stripe/stripe-go/v85"
)

// mix names six deliveries as a receiver may get them, of the larger shapes.
func mix() []string {
	return []string{"campaign_bounce", "transactional_bounce", "email_api_bounce", "campaign_complaint", "contact_removed_by_link", "email_suppressed"}
}

// deliveries returns the bodies of mix as the platform sends them.
func deliveries() (bodies [][]byte, err error) {
	for _, name := range mix() {
		text, err := os.ReadFile(filepath.Join("..", "..", "events", "testdata", name+".json"))
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := json.Compact(&b, text); err != nil {
			return nil, err
		}
		bodies = append(bodies, b.Bytes())
	}
	return bodies, nil
}

// fill returns a text of exactly length bytes: head, as many of the members as
// fit, a last member that fills up what is left, and tail.
func fill(head string, members []string, filler, tail string, length int) ([]byte, error) {
	var b strings.Builder
	b.WriteString(head)
	last := func(n int) string { return fmt.Sprintf(`"%s":"%s"`, filler, strings.Repeat("x", n)) }
	least := len(last(0)) + len(tail)
	for _, m := range members {
		if b.Len()+len(m)+1+least > length {
			break
		}
		b.WriteString(m + ",")
	}
	if b.Len()+least > length {
		return nil, fmt.Errorf("%d bytes do not fit into %d", b.Len()+least, length)
	}
	b.WriteString(last(length-b.Len()-least) + tail)
	return []byte(b.String()), nil
}

// stripeBody returns an event of Stripe that is as long as ours, or as short
// as it can be.
func stripeBody(length int) ([]byte, error) {
	head := fmt.Sprintf(`{"id":"evt_1NG8Du2eZvKYlo2C","object":"event","api_version":"%s","created":1763651300,"livemode":false,"pending_webhooks":1,"type":"customer.updated","data":{"object":{"object":"customer",`, stripe.APIVersion)
	return fill(head, []string{
		`"id":"cus_NffrFeUfNV2Hib"`, `"email":"ada@example.org"`, `"balance":0`, `"created":1680893993`, `"currency":null`,
		`"default_source":null`, `"delinquent":false`, `"address":{"city":"Bonn","country":"DE","line1":"Am Hof 1","line2":null,"postal_code":"53113","state":null}`,
		`"invoice_prefix":"0759376C"`, `"invoice_settings":{"custom_fields":null,"default_payment_method":null,"footer":null}`,
		`"livemode":false`, `"metadata":{"order":"2231","plan":"gold"}`, `"name":"Ada Lovelace"`, `"next_invoice_sequence":1`, `"phone":null`,
		`"preferred_locales":["de","en"]`, `"shipping":{"name":"Ada Lovelace","phone":null,"address":{"city":"Bonn","country":"DE"}}`, `"tax_exempt":"none"`,
	}, "description", `}}}`, length)
}

// githubBody returns an event of GitHub that is as long as ours.
func githubBody(length int) ([]byte, error) {
	return fill(`{"action":"opened","sender":{"login":"ada","id":1204,"type":"User"},"issue":{`, []string{
		`"id":66012`, `"node_id":"MDU6SXNzdWUx"`, `"number":17`, `"title":"Message blocked by the policy"`, `"state":"open"`, `"locked":false`, `"comments":0`,
		`"user":{"login":"ada","id":1204,"node_id":"MDQ6VXNlcjE=","type":"User","site_admin":false}`,
		`"labels":[{"id":208045946,"name":"bug","color":"d73a4a","default":true}]`, `"assignee":null`, `"milestone":null`,
		`"created_at":"2025-11-20T10:00:00Z"`, `"updated_at":"2025-11-20T10:00:00Z"`, `"closed_at":null`,
		`"html_url":"https://github.com/octo/shop/issues/17"`, `"url":"https://api.github.com/repos/octo/shop/issues/17"`,
		`"reactions":{"total_count":3,"+1":2,"-1":0,"laugh":0,"confused":0,"heart":1,"hooray":0}`, `"author_association":"OWNER"`,
	}, "body", `}}`, length)
}

// likes returns for each body one of another format and the same length.
func likes(bodies [][]byte, format func(length int) ([]byte, error)) (out [][]byte, err error) {
	for _, body := range bodies {
		other, err := format(len(body))
		if err != nil {
			return nil, err
		}
		out = append(out, other)
	}
	return out, nil
}

package probe

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// List creates a list, accepts its policy, and returns its path.
func (p Probe) List() string {
	p.Helper()
	path := "/lists/" + p.Post("/lists", `{"name":"Customers"}`).OK().Text("list_id")
	p.Post(path+"/accept-policy", nil).OK()
	return path
}

// Contact adds a contact to a list and returns its id.
func (p Probe) Contact(list, email string) string {
	p.Helper()
	return p.Post(list+"/contacts", map[string]any{"email": email}).OK().Text("id")
}

// Email submits a message by the Email API and returns its id. The subject is also the content.
func (p Probe) Email(to string, subject ...string) string {
	p.Helper()
	text := strings.Join(append(subject, "Hello")[:1], "")
	return p.Post("/v2/emails", map[string]any{
		"email":   to,
		"sender":  map[string]any{"email": "shop@example.com", "name": "Shop"},
		"content": map[string]any{"subject": text, "html": "<p>" + text + "</p>"},
	}).OK().Text("id")
}

// Campaign creates a campaign and returns its path. The argument content contains the JSON fields
// of the campaign's content.
func (p Probe) Campaign(list, content string) string {
	p.Helper()
	return "/campaigns/" + p.Post("/campaigns", `{"name":"Sale","list_id":`+strings.TrimPrefix(list, "/lists/")+
		`,"sender":{"email":"shop@example.com"},"content":{`+content+`}}`).OK().Text("campaign_id")
}

// Webhook subscribes http://app.test/hook to events, and returns its path.
func (p Probe) Webhook(names ...events.Name) string {
	p.Helper()
	r := p.Post("/webhooks", map[string]any{"url": "http://app.test/hook", "events": names}).OK()
	return "/webhooks/" + r.Text("webhook_id")
}

// CauseDelivery causes one delivery to a new webhook.
func (p Probe) CauseDelivery() {
	p.Helper()
	p.Webhook(events.NameSuppressedEmailAdded)
	p.Post("/suppressed-emails", `{"email":"a@example.org"}`).OK()
}

// Fired waits for all deliveries and returns their events.
func (p Probe) Fired() []events.Name {
	p.Helper()
	require.NoError(p, p.Wait(p.Context()))
	names := []events.Name{}
	for _, d := range p.Deliveries() {
		names = append(names, d.Event)
	}
	return names
}

// MustInject adds fault rules.
func (p Probe) MustInject(faults ...mockserver.Fault) {
	p.Helper()
	_, err := p.Inject(faults...)
	require.NoError(p, err)
}

// MustAdvance advances the clock.
func (p Probe) MustAdvance(d time.Duration) {
	p.Helper()
	require.NoError(p, p.Advance(p.Context(), d))
}

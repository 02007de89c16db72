package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// TestOpenUnderFaults: open is repeated until it succeeds. It creates each list once,
// and the Room creates its list and its webhook once. A second start finds them again.
func TestOpenUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{
		"listLists", "createList", "acceptListPolicy", "listWebhooks", "createWebhook", "getWebhook",
	}, func(t *testing.T, p *mockserver.Server) func() {
		return func() {
			cfg := client.Config{BaseURL: p.URL(), Token: p.Token(), HTTPClient: p.HTTPClient()}
			var s *service
			for range 2 {
				faulttest.Repeat(t, func() (err error) {
					s, err = open(t.Context(), cfg, "http://shop.test/hook", mailroom.NewMemoryStore())
					return err
				})
				time.Sleep(10 * time.Minute)
				check(t, s.room.Close())
			}
			p.ClearFaults()
			names := map[string]int{}
			for list, err := range s.platform.Lists.All(t.Context(), client.ListListsParams{}) {
				check(t, err)
				names[list.Name]++
			}
			for hook, err := range s.platform.Webhooks.All(t.Context(), client.ListWebhooksParams{}) {
				check(t, err)
				names[hook.URL]++
			}
			for _, name := range []string{"Readers", "Orders", "http://shop.test/hook"} {
				if n := names[name]; n != 1 {
					t.Errorf("%s exists %d times", name, n)
				}
			}
		}
	})
}

// TestSignUpUnderFaults: signUp, repeated until it succeeds, sends one confirmation
// email.
func TestSignUpUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"createContact"}, func(t *testing.T, p *mockserver.Server) func() {
		s := opened(t, p)
		return func() {
			faulttest.Repeat(t, func() error { return s.signUp(t.Context(), "ada@example.org") })
			if n := len(p.OutboxTo("ada@example.org")); n != 1 {
				t.Errorf("%d emails", n)
			}
		}
	})
}

// TestConfirmUnderFaults: confirm sends one email, or at most one if the outcome is
// unknown. After a 422, the outcome is that nothing was sent.
func TestConfirmUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"submitEmail"}, func(t *testing.T, p *mockserver.Server) func() {
		s := opened(t, p)
		return func() {
			check(t, s.confirm(t.Context(), "A-1", "ada@example.org"))
			time.Sleep(20 * time.Minute)
			unknown, err := s.room.Unknown(t.Context())
			check(t, err)
			if n := len(p.OutboxTo("ada@example.org")); n > 1 || n == 0 && len(unknown) == 0 && s.counts.Get("notice failed") == nil {
				t.Errorf("%d emails, %d unknown outcomes; %s", n, len(unknown), &s.counts)
			}
		}
	})
}

// TestPublishUnderFaults: publish, repeated by several processes until it succeeds,
// sends the issue once to each reader.
func TestPublishUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"listCampaigns", "createCampaign", "scheduleCampaign"}, func(t *testing.T, p *mockserver.Server) func() {
		s := opened(t, p)
		_, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{Email: "ada@example.org"})
		check(t, err)
		issue := client.CampaignCreate{Name: "May", Content: client.MessageContent{Subject: "News", Text: "News"}}
		return func() {
			var all sync.WaitGroup
			for range 2 {
				replica := opened(t, p)
				all.Go(func() {
					faulttest.Repeat(t, func() error {
						_, err := replica.publish(t.Context(), issue)
						return err
					})
				})
			}
			all.Wait()
			check(t, p.Wait(t.Context()))
			if n := len(p.OutboxTo("ada@example.org")); n != 1 {
				t.Errorf("%d emails", n)
			}
		}
	})
}

// TestImportUnderFaults: importContacts, repeated until it succeeds, imports each row,
// and does not activate contacts that have unsubscribed.
func TestImportUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"importContacts"}, func(t *testing.T, p *mockserver.Server) func() {
		s := opened(t, p)
		gone, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{Email: "r7@example.org"})
		check(t, err)
		check(t, s.platform.Contacts.Unsubscribe(t.Context(), s.listID, gone.ID))
		rows := "email\n"
		for i := range 1200 { // two batches
			rows += fmt.Sprintf("r%d@example.org\n", i)
		}
		return func() {
			faulttest.Repeat(t, func() error { _, err := s.importContacts(t.Context(), strings.NewReader(rows)); return err })
			if n := len(active(t, s)); n != 1199 {
				t.Errorf("%d active contacts", n)
			}
		}
	})
}

// TestExportUnderFaults: if export returns nil, the export is complete.
func TestExportUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"listContacts"}, func(t *testing.T, p *mockserver.Server) func() {
		s := opened(t, p)
		const readers = 350
		addReaders(t, s, readers)
		return func() {
			faulttest.Repeat(t, func() error {
				var out strings.Builder
				err := s.export(t.Context(), &out)
				if n := strings.Count(out.String(), "@"); err == nil && n != readers {
					t.Errorf("got %d of %d rows without an error", n, readers)
				}
				return err
			})
		}
	})
}

// TestSuppressionUnderFaults: recipients that bounced or complained are suppressed,
// even if lookups or deliveries fail.
func TestSuppressionUnderFaults(t *testing.T) {
	recipe := func(t *testing.T, p *mockserver.Server) func() {
		s := opened(t, p)
		time.Sleep(time.Second)
		return func() {
			suppressed := map[string]bool{
				"bounce+hb@mock.test": true, "complaint@mock.test": true, "global-unsubscribe@mock.test": true,
				"bounce+sb@mock.test": false, "open@mock.test": false,
			}
			for address := range suppressed {
				check(t, s.confirm(t.Context(), "first "+address, address))
			}
			time.Sleep(20 * time.Minute)
			for address := range suppressed {
				check(t, s.confirm(t.Context(), "second "+address, strings.ToUpper(address)))
			}
			time.Sleep(2 * time.Minute)
			sent := map[string]int{}
			for _, m := range p.Outbox() {
				sent[strings.ToLower(m.To)]++
			}
			for address, want := range suppressed {
				if n := sent[address]; want != (n == 1) || n > 2 {
					t.Errorf("%s: %d emails; suppressed: %v", address, n, want)
				}
			}
		}
	}
	faulttest.UnderFaults(t, []string{"getEmail"}, recipe)
	faulttest.UnderDeliveryFaults(t, recipe)
}

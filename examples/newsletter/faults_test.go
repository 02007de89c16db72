package main

import (
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
				time.Sleep(5 * time.Minute)
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

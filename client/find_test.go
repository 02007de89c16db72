package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"example.com/emailplatform/client"
)

func TestFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		c, f, ctx := p.clean, p.fixture(), t.Context()
		for i := range 120 { // what is looked for is on the second page
			must(t)(c.Lists.Create(ctx, client.ListCreate{Name: fmt.Sprint("list ", i)}))
			must(t)(c.Templates.Create(ctx, client.TemplateCreate{Name: fmt.Sprint("template ", i)}))
			must(t)(c.Campaigns.Create(ctx, client.CampaignCreate{Name: fmt.Sprint("campaign ", i)}))
		}
		older, err := c.Templates.Find(ctx, "template 119")
		must(t)(older, err)
		must(t)(c.Templates.Create(ctx, client.TemplateCreate{Name: "template 119"}))
		list, err := c.Lists.Find(ctx, "list 119")
		if err != nil || list.Name != "list 119" {
			t.Errorf("got %+v, %v", list, err)
		}
		template, err := c.Templates.Find(ctx, "template 119")
		if err != nil || template.ID != older.ID {
			t.Errorf("got %+v, %v; want the older of two, %d", template, err, older.ID)
		}
		campaign, err := c.Campaigns.Find(ctx, "campaign 119")
		if err != nil || campaign.Name != "campaign 119" {
			t.Errorf("got %+v, %v", campaign, err)
		}
		before := len(p.Requests())
		contact, err := c.Contacts.Find(ctx, f.list, "ANN@example.com")
		if asked := len(p.Requests()) - before; err != nil || contact.ID != f.contact || asked != 1 {
			t.Errorf("got %+v, %v by %d requests", contact, err, asked)
		}
	})
}

func TestFindNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		c, f := p.clean, p.fixture()
		for name, find := range map[string]func(context.Context, string) error{
			"contact":  func(ctx context.Context, email string) error { return last(c.Contacts.Find(ctx, f.list, email)) },
			"list":     func(ctx context.Context, name string) error { return last(c.Lists.Find(ctx, name)) },
			"campaign": func(ctx context.Context, name string) error { return last(c.Campaigns.Find(ctx, name)) },
			"template": func(ctx context.Context, name string) error { return last(c.Templates.Find(ctx, name)) },
		} {
			_, own := errors.AsType[*client.Error](find(t.Context(), "nobody@example.com"))
			if err := find(t.Context(), "nobody@example.com"); !own || !errors.Is(err, client.ErrNotFound) {
				t.Errorf("%s: got %v", name, err)
			}
			before := len(p.Requests())
			if err := find(t.Context(), ""); !errors.Is(err, client.ErrValidation) || len(p.Requests()) != before {
				t.Errorf("%s: got %v for no name", name, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := find(ctx, "x"); !errors.Is(err, context.Canceled) || errors.Is(err, client.ErrNotFound) {
				t.Errorf("%s: got %v when the context has ended", name, err)
			}
		}
		if err := last(c.Contacts.Find(t.Context(), 99, "ann@example.com")); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("on a list that is not there: %v", err)
		}
	})
}

// must ends the test if a call fails.
func must(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		fatal(t, err)
	}
}

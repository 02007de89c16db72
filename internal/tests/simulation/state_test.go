package simulation

import (
	"fmt"

	"example.com/emailplatform/mockserver"
)

// state is what the platform holds in the end.
type state struct {
	outbox map[string][]mockserver.Message // by subject
	names  map[Kind]map[string][]string    // the ids of what has a name
}

// look reads the platform, past network and client.
func (w *world) look() (*state, error) {
	s := &state{outbox: map[string][]mockserver.Message{}, names: map[Kind]map[string][]string{}}
	for _, m := range w.platform.now().Outbox() {
		s.outbox[m.Subject] = append(s.outbox[m.Subject], m)
	}
	for kind := range w.created() {
		names, err := w.platform.names(kind)
		if err != nil {
			return nil, err
		}
		s.names[kind] = names
	}
	return s, nil
}

// created returns the kinds of which something was to be created.
func (w *world) created() map[Kind]bool {
	kinds := map[Kind]bool{OfList: true} // of the encore
	for _, s := range w.plan.Steps {
		if c, ok := s.Do.(Create); ok {
			kinds[c.What] = true
		}
	}
	return kinds
}

// names returns the ids of all of a kind by their names.
func (p *platform) names(kind Kind) (map[string][]string, error) {
	paths := map[Kind][3]string{
		OfList:        {"/lists", "name", "list_id"},
		OfTemplate:    {"/templates", "name", "template_id"},
		OfCampaign:    {"/campaigns", "name", "campaign_id"},
		OfWorkflow:    {"/workflows", "name", "workflow_id"},
		OfWebhook:     {"/webhooks", "url", "webhook_id"},
		OfContact:     {fmt.Sprintf("/lists/%d/contacts", p.w.exported.madeFor), "email", "id"},
		OfSuppression: {"/suppressed-emails", "email", "email"},
	}[kind]
	items, err := all[map[string]any](p, paths[0])
	names := map[string][]string{}
	for _, item := range items {
		name := fmt.Sprint(item[paths[1]])
		id := item[paths[2]]
		if n, ok := id.(float64); ok {
			id = int64(n)
		}
		names[name] = append(names[name], fmt.Sprint(id))
	}
	return names, err
}

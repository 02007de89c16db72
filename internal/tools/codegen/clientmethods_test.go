package main

import (
	"slices"
	"testing"
)

// A method that has others of its service make the requests is named, too.
func TestClientMethods(t *testing.T) {
	methods, err := clientMethods("../../../client")
	must(t, err)
	for op, want := range map[string][]string{
		"getEmail":       {"Emails.Get", "Emails.GetAll", "Emails.Wait"},
		"createWebhook":  {"Webhooks.Create", "Webhooks.Ensure", "Webhooks.Rotate"},
		"getWebhook":     {"Webhooks.Active", "Webhooks.Ensure", "Webhooks.Get", "Webhooks.Rotate"},
		"importContacts": {"Contacts.Import", "Contacts.ImportBatch"},
		"listTags":       {"Tags.All", "Tags.List"},
	} {
		if got := slices.Sorted(slices.Values(methods[op])); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
}

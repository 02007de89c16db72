package main

import (
	"fmt"
	"io"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestDeletedMeanwhile: contacts that are deleted between the listing and the change
// do not stop the command from changing the others.
func TestDeletedMeanwhile(t *testing.T) {
	for _, action := range []string{"tag", "unsubscribe"} {
		platform := mockserver.New(mockserver.Config{})
		defer platform.Close()
		c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Newsletter"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Lists.AcceptPolicy(t.Context(), list.ID); err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			if err := sendTo(t.Context(), c, platform, list.ID, fmt.Sprintf("gone%d@example.org", i), mockserver.HardBounce); err != nil {
				t.Fatal(err)
			}
		}
		j := job{Client: c, out: io.Discard, listID: list.ID, action: action, tag: "bounced-hard"}
		bounced, err := j.bouncedHard(t.Context())
		if err != nil || len(bounced) != 9 {
			t.Fatal(len(bounced), err)
		}
		for _, i := range []int{0, 4, 8} {
			if err := c.Contacts.Delete(t.Context(), list.ID, bounced[i].ID); err != nil {
				t.Fatal(err)
			}
		}
		change := map[string]func() error{
			"tag":         func() error { return j.tagAll(t.Context(), bounced) },
			"unsubscribe": func() error { return j.unsubscribe(t.Context(), bounced) },
		}[action]
		for range 2 {
			if err := change(); err != nil {
				t.Errorf("%s: %v", action, err)
			}
		}
		if left, err := j.bouncedHard(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("%s: %d contacts are left, %v", action, len(left), err)
		}
	}
}

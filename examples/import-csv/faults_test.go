package main

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
)

// TestImportUnderFaults: an import, started again until it succeeds, imports each row.
func TestImportUnderFaults(t *testing.T) {
	recipes.UnderFaults(t, []string{"importContacts", "getList"}, func(t *testing.T, p *mockserver.Server) func() {
		c, err := client.New(client.Config{BaseURL: p.URL(), Token: p.Token(), HTTPClient: p.HTTPClient()})
		check(t, err)
		list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
		check(t, err)
		name := filepath.Join(t.TempDir(), "contacts.csv")
		check(t, writeRows(name, 1500))
		return func() {
			recipes.Repeat(t, func() error {
				return importFile(t.Context(), c, io.Discard, target{BaseURL: p.URL(), ListID: list.ID}, name)
			})
			found := map[string]bool{}
			for contact, err := range c.Contacts.All(t.Context(), list.ID, client.ListContactsParams{}) {
				if found[contact.Email] = true; err != nil {
					t.Fatal(err)
				}
			}
			for i := range 1500 {
				if address := fmt.Sprintf("customer%05d@example.org", i); !found[address] {
					t.Fatalf("%s is missing", address)
				}
			}
		}
	})
}

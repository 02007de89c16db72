package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestCheckpointOfAnotherImport: a checkpoint is valid only for the same file,
// platform and list.
func TestCheckpointOfAnotherImport(t *testing.T) {
	name := filepath.Join(t.TempDir(), "contacts.csv")
	sums := map[string]string{}
	for _, text := range []string{"email\nada@example.org\n", "email\nbob@example.org\n"} {
		check(t, os.WriteFile(name, []byte(text), 0o600))
		contacts, sum, err := survey(name)
		if err != nil || contacts != 1 {
			t.Fatal(contacts, err)
		}
		sums[text[6:9]] = sum
	}
	before := checkpoint{target{"https://staging.test", 81, time.Unix(1, 0).UTC(), sums["ada"]}, 1}
	check(t, before.store(name+".progress"))
	for what, change := range map[string]func(*target){
		"the same":                 func(*target) {},
		"another file":             func(to *target) { to.SHA256 = sums["bob"] },
		"another platform":         func(to *target) { to.BaseURL = "https://mail.test" },
		"a list of another time":   func(to *target) { to.ListCreatedOn = time.Unix(2, 0).UTC() },
		"a list of another number": func(to *target) { to.ListID = 82 },
	} {
		c := checkpoint{target: before.target}
		change(&c.target)
		same := what == "the same"
		if err := c.load(name + ".progress"); (err == nil) != same || (c == before) != same {
			t.Errorf("%s: %+v, %v", what, c, err)
		}
	}
}

// TestStoppedAndContinuedElsewhere: an import that was stopped is not continued on
// another platform, even if the list there has the same id.
func TestStoppedAndContinuedElsewhere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, writeRows(name, 10_000))
	var ids []int64
	for i := range 2 {
		platform := mockserver.New(mockserver.Config{})
		defer platform.Close()
		c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
		check(t, err)
		list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
		check(t, err)
		ids = append(ids, list.ID)
		_, err = platform.Inject(mockserver.Fault{Operation: "importContacts", Nth: 8, Action: mockserver.FaultStatus, Status: 403})
		check(t, err)
		base := []string{"https://staging.test", "https://mail.test"}[i]
		err = importFile(t.Context(), c, io.Discard, target{BaseURL: base, ListID: list.ID}, name)
		if refused := !errors.Is(err, client.ErrForbidden); err == nil || refused != (i == 1) {
			t.Errorf("platform %d: %v", i, err)
		}
	}
	if ids[0] != ids[1] {
		t.Fatalf("lists %v do not have the same id", ids)
	}
}

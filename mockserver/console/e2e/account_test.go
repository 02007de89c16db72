package e2e

import (
	"context"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestActionsOfOneAccount: new fault rules, "Remove all", "Reset" and "Delete everything" leave the other account alone.
func TestActionsOfOneAccount(t *testing.T) {
	w, p := start(t, "#/faults?account=77", mockserver.Token{Value: "one", AccountID: 1}, mockserver.Token{Value: "other", AccountID: 77})
	other := w.as("other")
	for _, c := range []*client.Client{w.sdk, other} {
		_, err := c.Lists.Create(context.Background(), client.ListCreate{Name: "Kept"})
		w.check(err)
	}
	_, err := w.srv.Inject(mockserver.Fault{AccountID: 1, Operation: "listTags", Action: mockserver.FaultReset})
	w.check(err)
	lists := func(c *client.Client) int {
		page, err := c.Lists.List(context.Background(), client.ListListsParams{})
		w.check(err)
		return len(page.Data)
	}
	p.click("button", "Rate-limited once").says(".rules", "of account 77")
	w.equal(w.srv.Faults()[1].AccountID, int64(77))
	p.click("button", "Remove all").says(".toasts", "All rules of account 77 removed.")
	w.equal(len(w.srv.Faults()), 1)
	for _, action := range [][2]string{{"Delete everything", "Yes, delete everything"}, {"Reset", "Yes, reset"}} {
		p.click("button", action[0]).says(".scope", "This applies to account 77: ")
		p.click("button", action[1]).says(".toasts", map[string]string{"Reset": "Baseline restored.", "Delete everything": "Everything deleted."}[action[0]])
		w.equal(lists(other), 0)
		w.equal(lists(w.sdk), 1)
		w.equal(len(w.srv.Faults()), 1)
	}
}

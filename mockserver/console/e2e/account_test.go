package e2e

import (
	"context"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestActionsOfOneAccount: new fault rules, "Remove all", "Reset" and "Delete everything" do not affect other
// accounts. The page shows the rules of the selected account and the rules that apply to all accounts.
func TestActionsOfOneAccount(t *testing.T) {
	w, p, other := startFourAccounts(t)
	p.click("button", "Rate-limited once").says(".rules", "of account 77", "listTemplates of all accounts")
	w.equal(strings.Contains(p.text(".rules"), "listTags"), false)
	p.says(".page", "1 rule of other accounts is not shown.")
	w.equal(w.srv.Faults()[2].AccountID, int64(77))
	p.click("button", "Remove all").says(".scope", "This applies to account 77: 1 rule.")
	p.click("button", "Yes, remove").says(".toasts", "Rules removed.")
	w.equal(len(w.srv.Faults()), 2)
	for _, action := range [][3]string{
		{"Delete everything", "Yes, delete everything", "Everything deleted."}, {"Reset to baseline", "Yes, reset", "Baseline restored."},
	} {
		p.goTo("#/faults").click("button", "Duplicate deliveries").says(".rules", "Deliveries of account 77")
		p.goTo("#/overview").click("button", action[0]).says(".scope", "This applies to account 77: ", "0 messages, 1 rule.")
		p.click("button", action[1]).says(".toasts", action[2])
		w.equal(lists(w, other), 0)
		w.equal(lists(w, w.sdk), 1)
		w.equal(len(w.srv.Faults()), 2)
	}
}

// TestActionsOfAllAccounts: "Remove all" and "Delete everything" can apply to all accounts. The confirmation then
// contains the number of accounts.
func TestActionsOfAllAccounts(t *testing.T) {
	w, p, _ := startFourAccounts(t)
	p.click("button", "Remove all").says(".scope", "This applies to account 77: 0 rules.")
	p.click(".choice label", "All 4 accounts").says(".scope", "This applies to all 4 accounts: 2 rules.")
	p.click("button", "Keep it")
	w.equal(len(w.srv.Faults()), 2)
	p.click("button", "Remove all").says(".scope", "account 77")
	p.click(".choice label", "All 4 accounts").says(".scope", "all 4 accounts")
	p.click("button", "Yes, remove").says(".page", "No faults")
	w.equal(len(w.srv.Faults()), 0)
	p.goTo("#/overview").click("button", "Delete everything").says(".scope", "This applies to account 77: 1 list, 0 messages, 0 rules.")
	p.click(".choice label", "All 4 accounts").says(".scope", "This applies to all 4 accounts: 2 lists, 0 messages, 0 rules.")
	p.click("button", "Yes, delete everything").says(".toasts", "Everything deleted.")
	w.equal(lists(w, w.sdk), 0)
}

// startFourAccounts opens the page of faults for account 77. Account 1 has a rule, and another rule is for all
// accounts. Accounts 1 and 77 have a list. startFourAccounts also returns a client for account 77.
func startFourAccounts(t *testing.T) (*world, *page, *client.Client) {
	t.Helper()
	w, p := start(t, "#/faults?account=77", mockserver.Token{Value: "one", AccountID: 1}, mockserver.Token{Value: "other", AccountID: 77},
		mockserver.Token{Value: "third", AccountID: 78}, mockserver.Token{Value: "fourth", AccountID: 79})
	other := w.as("other")
	for _, c := range []*client.Client{w.sdk, other} {
		_, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Kept"})
		w.check(err)
	}
	_, err := w.srv.Inject(mockserver.Fault{AccountID: 1, Operation: "listTags", Action: mockserver.FaultReset},
		mockserver.Fault{Operation: "listTemplates", Action: mockserver.FaultReset})
	w.check(err)
	p.says(".rules", "listTemplates")
	return w, p, other
}

func lists(w *world, c *client.Client) int {
	w.Helper()
	page, err := c.Lists.List(context.Background(), client.ListListsParams{})
	w.check(err)
	return len(page.Data)
}

// TestConfirmation: the confirmation is accessible on a desktop and on a phone.
func TestConfirmation(t *testing.T) {
	w, _, _ := startFourAccounts(t)
	audit(t, w, []view{{1280, "light"}, {400, "dark"}}, "#/overview?account=77", func(a *auditor) {
		a.click("button", "Delete everything").says(".scope", "This applies to account 77: ", "0 rules")
		a.fine(".card:has(.scope)")
	})
}

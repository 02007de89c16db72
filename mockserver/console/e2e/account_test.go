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
	f, p, other := startFourAccounts(t)
	p.click("button", "Rate-limited once").says(".rules", "of account 77", "listTemplates of all accounts")
	f.equal(strings.Contains(p.text(".rules"), "listTags"), false)
	p.says(".page", "1 rule of other accounts is not shown.")
	f.equal(f.srv.Faults()[2].AccountID, int64(77))
	p.click("button", "Remove all").says(".scope", "This applies to account 77: 1 rule.")
	p.click("button", "Yes, remove").says(".toasts", "Rules removed.")
	f.equal(len(f.srv.Faults()), 2)
	for _, action := range [][3]string{
		{"Delete everything", "Yes, delete everything", "Everything deleted."}, {"Reset to baseline", "Yes, reset", "Baseline restored."},
	} {
		p.goTo("#/faults").click("button", "Duplicate deliveries").says(".rules", "Deliveries of account 77")
		p.goTo("#/overview").click("button", action[0]).says(".scope", "This applies to account 77: ", "0 messages, 1 rule.")
		p.click("button", action[1]).says(".toasts", action[2])
		f.equal(lists(f, other), 0)
		f.equal(lists(f, f.sdk), 1)
		f.equal(len(f.srv.Faults()), 2)
	}
}

// TestActionsOfAllAccounts: "Remove all" and "Delete everything" can apply to all accounts. The confirmation then
// contains the number of accounts.
func TestActionsOfAllAccounts(t *testing.T) {
	f, p, _ := startFourAccounts(t)
	p.click("button", "Remove all").says(".scope", "This applies to account 77: 0 rules.")
	p.click(".choice label", "All 4 accounts").says(".scope", "This applies to all 4 accounts: 2 rules.")
	p.click("button", "Keep it")
	f.equal(len(f.srv.Faults()), 2)
	p.click("button", "Remove all").says(".scope", "account 77")
	p.click(".choice label", "All 4 accounts").says(".scope", "all 4 accounts")
	p.click("button", "Yes, remove").says(".page", "No faults")
	f.equal(len(f.srv.Faults()), 0)
	p.goTo("#/overview").click("button", "Delete everything").says(".scope", "This applies to account 77: 1 list, 0 messages, 0 rules.")
	p.click(".choice label", "All 4 accounts").says(".scope", "This applies to all 4 accounts: 2 lists, 0 messages, 0 rules.")
	p.click("button", "Yes, delete everything").says(".toasts", "Everything deleted.")
	f.equal(lists(f, f.sdk), 0)
}

// startFourAccounts opens the page of faults for account 77. One fault rule is for account 1, and another for
// all accounts. Accounts 1 and 77 each have a list. startFourAccounts also returns a client for account 77.
func startFourAccounts(t *testing.T) (*fixture, *page, *client.Client) {
	t.Helper()
	f, p := start(t, "#/faults?account=77", mockserver.Token{Value: "one", AccountID: 1}, mockserver.Token{Value: "other", AccountID: 77},
		mockserver.Token{Value: "third", AccountID: 78}, mockserver.Token{Value: "fourth", AccountID: 79})
	other := f.as("other")
	for _, c := range []*client.Client{f.sdk, other} {
		_, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Kept"})
		f.check(err)
	}
	_, err := f.srv.Inject(mockserver.Fault{AccountID: 1, Operation: "listTags", Action: mockserver.FaultReset},
		mockserver.Fault{Operation: "listTemplates", Action: mockserver.FaultReset})
	f.check(err)
	p.says(".rules", "listTemplates")
	return f, p, other
}

func lists(f *fixture, c *client.Client) int {
	f.Helper()
	page, err := c.Lists.List(context.Background(), client.ListListsParams{})
	f.check(err)
	return len(page.Data)
}

// TestConfirmation: the confirmation is accessible on a desktop and on a phone.
func TestConfirmation(t *testing.T) {
	f, _, _ := startFourAccounts(t)
	audit(t, f, []view{{1280, "light"}, {400, "dark"}}, "#/overview?account=77", func(a *auditor) {
		a.click("button", "Delete everything").says(".scope", "This applies to account 77: ", "0 rules")
		a.checkControls(".card:has(.scope)")
	})
}

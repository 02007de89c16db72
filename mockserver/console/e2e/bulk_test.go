package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
)

// TestImportEditAndTag: contacts can be imported from pasted CSV or from a file, and the form names rejected rows.
// One or more contacts can be edited and tagged. Changes can be undone where the API supports it.
func TestImportEditAndTag(t *testing.T) {
	f := newFixture(t)
	l := f.list("Readers")
	p := open(t, f.srv.URL(), "#/contacts", desktop)
	p.click("button", "Import").focused("[name=contacts]")
	p.click("dialog button.main", "Import").says("dialog .form-error", "No address found.")
	csv := "Email;first_name;tags;note\r\nada@example.org;Ada;vip,press;\"a \"\"quoted\"\"; note\"\r\nnot an address;x;;\r\ngrace@example.org;Grace;;\r\n"
	file := filepath.Join(t.TempDir(), "contacts.csv")
	f.check(os.WriteFile(file, []byte("\ufeff"+csv), 0o600))
	p.do(chromedp.SetUploadFiles("dialog input[type=file]", []string{file}))
	p.says("dialog .note", "3 contacts found.")
	p.click("dialog button.main", "Import").says("dialog .after", "Line 3: not an address: ")
	p.says(".toast", "2 contacts imported to Readers, 1 rejected.")
	p.press(kb.Escape).rows(2)
	ada, err := f.sdk.Contacts.Find(t.Context(), l.ID, "ada@example.org")
	f.check(err)
	p.equal(ada.Tags, "[vip press]")
	p.equal(ada.CustomAttributes, `[{Name:first_name Value:Ada} {Name:note Value:a "quoted"; note}]`)

	p.click(".rows a", "ada@example.org")
	p.click(".detail button", "Edit")
	p.fill("dialog textarea", "first_name=Augusta")
	p.click("dialog button.main", "Save").says(".toast", "ada@example.org updated.")
	p.says(".detail", "Augusta")
	p.press("z").says(".detail", `a "quoted"; note`)

	p.tick(0)
	p.tick(1).says(".selected", "2 contacts selected")
	p.click(".selected button", "Tag")
	p.enter("[name=tags]", "customer, new\r").says(".toast", "2 contacts tagged.")
	p.until(`!document.querySelector('.selected')`)
	p.says(".detail .tags", "customer")

	p.tick(0)
	p.tick(1)
	p.press("u").says(".toast", "2 contacts unsubscribed from Readers.")
	f.statuses(l.ID, "unsubscribed unsubscribed")
	p.click(".toast button", "Undo").says(".toast", "Undone.")
	f.statuses(l.ID, "active active")
	p.tick(0)
	p.tick(1)
	p.press(kb.Delete).says(".toast", "2 contacts deleted from Readers.")
	p.press("z").says(".toast", "Undone.")
	f.statuses(l.ID, "active active")
}

// TestPaste: addresses pasted into the contacts view fill the import form, and Ctrl+Enter submits it. Other text
// does not open the form, and text pasted into a field stays there.
func TestPaste(t *testing.T) {
	f := newFixture(t)
	l := f.list("Readers")
	p := open(t, f.srv.URL(), "#/contacts", desktop)
	p.says(".list", "No contacts on this list")
	p.paste("not an address")
	p.do(focus("#filter"))
	p.paste("nobody@example.org").says(".list", "No matching contacts")
	p.equal(eval[int](p, `document.querySelectorAll('dialog.create').length`), 0)
	p.press(kb.Escape)
	p.paste("ada@example.org, grace@example.org").says("dialog.create .note", "2 contacts found.")
	p.focused("[name=contacts]")
	p.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.says(".toast", "2 contacts imported to Readers.")
	f.statuses(l.ID, "active active")
}

// statuses compares the statuses of the contacts of a list, in the order of their ids.
func (f *fixture) statuses(list int64, want string) {
	f.Helper()
	var got []string
	for c, err := range f.sdk.Contacts.All(f.Context(), list, client.ListContactsParams{}) {
		f.check(err)
		got = append(got, string(c.Status))
	}
	f.equal(strings.Join(got, " "), want)
}

// TestSelection: a user can select, delete and restore messages with the keyboard. When the user deletes the
// open message, the console shows the next one, but the API still returns the deleted email. Escape or a new
// search clears the selection.
func TestSelection(t *testing.T) {
	f := newFixture(t)
	var id string
	for _, name := range []string{"delta", "gamma", "beta", "alpha"} {
		id = f.send("ada@example.org", "Order "+name, order)
	}
	p := open(t, f.srv.URL(), "#/inbox/"+id, desktop)
	p.says(".actions", "Delete")
	p.press(kb.Delete).says(".toast", "Message deleted.")
	p.says(".head h2", "Order beta")
	p.says(".actions", "Delete")
	p.click(".actions button", "Delete").says(".head h2", "Order gamma").rows(2)
	email, err := f.sdk.Emails.Get(t.Context(), id)
	f.check(err)
	p.equal(email.Status, client.EmailStatusDelivered)
	p.press("z").rows(3)
	p.goTo("#/inbox").says(".detail", "No message selected")
	p.press("jxjx").says(".selected", "2 messages selected")
	p.press(kb.Delete).says(".toast", "2 messages deleted.").rows(1)
	p.press("z").rows(3)
	p.tick(0)
	p.click(".selected button", "Select all 3").says(".selected", "3 messages selected")
	p.press(kb.Escape).until(`!document.querySelector('.selected')`)
	p.tick(0)
	p.fill("#filter", "gamma").rows(1)
	p.until(`!document.querySelector('.selected')`)
}

// TestDraft: a draft shows its content and its number of recipients. It can be edited, deleted and restored with its
// id.
func TestDraft(t *testing.T) {
	f := newFixture(t)
	l := f.list("Readers", reader("ada@example.org", "Ada"), reader("grace@example.org", "Grace"))
	c := f.draft(l.ID, "Autumn", client.MessageContent{Subject: "Hello", HTML: "<p>Hello {{first_name}}</p>", Text: "The text for {{first_name}}"})
	p := open(t, f.srv.URL(), fmt.Sprintf("#/campaigns/%d", c.ID), desktop)
	p.says(".detail .lead + .lead", "2 active contacts of Readers will get it")
	p.until(`document.querySelector('.detail iframe')`)
	p.contains(p.fetch(".detail iframe"), "<p>Hello Ada</p>")
	p.click("[role=tab]", "Text").says(".plain", "The text for Ada")
	p.click(".detail button", "Edit").focused("[name=name]")
	p.fill("dialog [name='content.subject']", "Good morning")
	p.fill("dialog [name='content.text']", "")
	p.click("dialog button.main", "Save").says(".head .who", "Good morning")
	now, err := f.sdk.Campaigns.Get(t.Context(), c.ID)
	f.check(err)
	p.equal(now.Content, client.MessageContent{Subject: "Good morning", HTML: c.Content.HTML})
	p.equal(now.ListID, l.ID)
	p.press("z").says(".head .who", "Hello")
	p.click(".detail button", "Delete").says(".toast", "Autumn deleted.")
	p.says(".list", "No campaigns yet")
	if _, err := f.sdk.Campaigns.Get(t.Context(), c.ID); err == nil {
		t.Error("the campaign still exists")
	}
	p.press("z").says(".rows", "Autumn")
	again, err := f.sdk.Campaigns.Get(t.Context(), c.ID)
	f.check(err)
	again.CreatedOn, again.UpdatedOn = c.CreatedOn, c.UpdatedOn
	p.equal(again, c)
}

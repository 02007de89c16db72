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
// One or more contacts can be edited and tagged. Changes can be undone if the API supports it.
func TestImportEditAndTag(t *testing.T) {
	w := newWorld(t)
	l := w.list("Readers")
	p := open(t, w.srv.URL(), "#/contacts", desk)
	p.click("button", "Import")
	p.until(`document.activeElement.name === 'contacts'`)
	p.click("dialog button.main", "Import")
	p.says("dialog .refused", "No address found.")
	csv := "Email;first_name;tags;note\r\nada@example.org;Ada;vip,press;\"a \"\"quoted\"\"; note\"\r\nnot an address;x;;\r\ngrace@example.org;Grace;;\r\n"
	file := filepath.Join(t.TempDir(), "contacts.csv")
	w.check(os.WriteFile(file, []byte("\ufeff"+csv), 0o600))
	p.do(chromedp.SetUploadFiles("dialog input[type=file]", []string{file}))
	p.says("dialog .note", "3 contacts found.")
	p.click("dialog button.main", "Import")
	p.says("dialog .how", "not an address: ")
	p.says(".toast", "2 contacts imported to Readers, 1 rejected.")
	p.press(kb.Escape)
	p.rows(2)
	ada, err := w.sdk.Contacts.Find(t.Context(), l.ID, "ada@example.org")
	w.check(err)
	if got := fmt.Sprint(ada.Tags, ada.CustomAttributes); got != `[vip press] [{first_name Ada} {note a "quoted"; note}]` {
		t.Errorf("the CSV became %s", got)
	}

	p.click(".rows a", "ada@example.org")
	p.click(".detail button", "Edit")
	p.fill("dialog textarea", "first_name=Augusta")
	p.click("dialog button.main", "Save")
	p.says(".toast", "ada@example.org updated.")
	p.says(".detail", "Augusta")
	p.press("z")
	p.says(".detail", `a "quoted"; note`)

	p.tick(0)
	p.tick(1)
	p.says(".selected", "2 contacts selected")
	p.click(".selected button", "Tag")
	p.until(`document.activeElement.name === 'tags'`)
	p.press("customer, new\r")
	p.says(".toast", "2 contacts tagged.")
	p.until(`!document.querySelector('.selected')`)
	p.says(".detail .tags", "customer")

	p.tick(0)
	p.tick(1)
	p.press("u")
	p.says(".toast", "2 contacts unsubscribed from Readers.")
	p.statuses(w, l.ID, "unsubscribed unsubscribed")
	p.click(".toast button", "Undo")
	p.says(".toast", "Undone.")
	p.statuses(w, l.ID, "active active")
	p.tick(0)
	p.tick(1)
	p.press(kb.Delete)
	p.says(".toast", "2 contacts deleted from Readers.")
	p.press("z")
	p.says(".toast", "Undone.")
	p.statuses(w, l.ID, "active active")
}

// TestPaste: addresses pasted into the contacts view fill the import form, and Ctrl+Enter submits it. Other text
// does not open the form, and text pasted into a field stays there.
func TestPaste(t *testing.T) {
	w := newWorld(t)
	l := w.list("Readers")
	p := open(t, w.srv.URL(), "#/contacts", desk)
	p.says(".list", "No contacts on this list")
	p.paste("not an address")
	p.do(focus("#filter"))
	p.paste("nobody@example.org")
	p.says(".list", "No matching contact")
	if eval[bool](p, `!!document.querySelector('dialog.create')`) {
		t.Error("the import form is open")
	}
	p.press(kb.Escape)
	p.paste("ada@example.org, grace@example.org")
	p.says("dialog.create .note", "2 contacts found.")
	p.until(`document.activeElement.name === 'contacts'`)
	p.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.says(".toast", "2 contacts imported to Readers.")
	p.statuses(w, l.ID, "active active")
}

func (p *page) statuses(w *world, list int64, want string) {
	p.Helper()
	var got []string
	for c, err := range w.sdk.Contacts.All(w.Context(), list, client.ListContactsParams{}) {
		w.check(err)
		got = append(got, string(c.Status))
	}
	if strings.Join(got, " ") != want {
		p.Errorf("the contacts are %v, want %s", got, want)
	}
}

// TestSelection: keys select, delete and restore several messages. Escape or a new search clears the selection.
func TestSelection(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"alpha", "beta", "gamma", "delta"} {
		w.send("ada@example.org", "Order "+name, order)
	}
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.rows(4)
	p.press("jxjx")
	p.says(".selected", "2 messages selected")
	p.press(kb.Delete)
	p.says(".toast", "2 messages deleted.")
	p.rows(2)
	p.press("z")
	p.rows(4)
	p.tick(0)
	p.click(".selected button", "Select all 4")
	p.says(".selected", "4 messages selected")
	p.press(kb.Escape)
	p.until(`!document.querySelector('.selected')`)
	p.tick(0)
	p.fill("#filter", "gamma")
	p.rows(1)
	p.until(`!document.querySelector('.selected')`)
}

// TestDraft: a draft shows its content and its number of recipients. It can be edited, deleted and restored with its
// id.
func TestDraft(t *testing.T) {
	w := newWorld(t)
	l := w.list("Readers", reader("ada@example.org", "Ada"), reader("grace@example.org", "Grace"))
	c := w.draft(l.ID, "Autumn", client.MessageContent{Subject: "Hello", HTML: "<p>Hello {{first_name}}</p>", Text: "The text for {{first_name}}"})
	p := open(t, w.srv.URL(), fmt.Sprintf("#/campaigns/%d", c.ID), desk)
	p.says(".detail .lead + .lead", "2 active contacts of Readers will get it")
	p.until(`document.querySelector('.detail iframe')`)
	if html := eval[string](p, `fetch(document.querySelector('.detail iframe').src).then(r => r.text())`); !strings.Contains(html, "<p>Hello Ada</p>") {
		t.Errorf("the draft shows %s", html)
	}
	p.click("[role=tab]", "Text")
	p.says(".plain", "The text for Ada")
	p.click(".detail button", "Edit")
	p.until(`document.activeElement.name === 'name'`)
	p.fill("dialog [name='content.subject']", "Good morning")
	p.fill("dialog [name='content.text']", "")
	p.click("dialog button.main", "Save")
	p.says(".head .who", "Good morning")
	now, err := w.sdk.Campaigns.Get(t.Context(), c.ID)
	if err != nil || now.Content.Text != "" || now.Content.HTML != "<p>Hello {{first_name}}</p>" || now.ListID != l.ID {
		t.Errorf("%+v, %v", now, err)
	}
	p.press("z")
	p.says(".head .who", "Hello")
	p.click(".detail button", "Delete")
	p.says(".toast", "Autumn deleted.")
	p.says(".list", "No campaign yet")
	if _, err := w.sdk.Campaigns.Get(t.Context(), c.ID); err == nil {
		t.Error("the campaign is still there")
	}
	p.press("z")
	p.says(".rows", "Autumn")
	if again, err := w.sdk.Campaigns.Get(t.Context(), c.ID); err != nil || again.Content != c.Content || again.Sender != c.Sender {
		t.Errorf("it came back as %+v, %v", again, err)
	}
}

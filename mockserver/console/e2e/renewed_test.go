package e2e

import (
	"fmt"
	"strconv"
	"testing"

	"example.com/emailplatform/client"
)

// TestPreviewIsRenewed: a preview shows the current template, even if it changed within a second or while the clock is frozen.
func TestPreviewIsRenewed(t *testing.T) {
	w := newWorld(t)
	w.srv.FreezeClock()
	made, err := w.sdk.Templates.Create(t.Context(), client.TemplateCreate{Name: "Welcome", Content: client.TemplateContent{HTML: "<p>First</p>", Text: "First"}})
	w.check(err)
	p := open(t, w.srv.URL(), fmt.Sprintf("#/templates/%d/text", made.ID), desk)
	p.says(".plain", "First")
	_, err = w.sdk.Templates.Update(t.Context(), made.ID, client.TemplateUpdate{Content: &client.TemplateContentUpdate{Text: client.Value("Second {{city}}")}})
	w.check(err)
	p.says(".plain", "Second London")
	const odd = "a {{constructor}} b {{__proto__}} c {{toString}}" // names that every object of JavaScript has
	_, err = w.sdk.Templates.Update(t.Context(), made.ID, client.TemplateUpdate{Content: &client.TemplateContentUpdate{Text: client.Value(odd)}})
	w.check(err)
	p.says(".plain", "a constructor b __proto__ c toString")
}

// TestFormStaysWhenItsTemplateChanges: a form stays open when another client changes the template. It shows a notice, and saving
// it overwrites the change.
func TestFormStaysWhenItsTemplateChanges(t *testing.T) {
	w := newWorld(t)
	made, err := w.sdk.Templates.Create(t.Context(), client.TemplateCreate{Name: "Welcome", Content: client.TemplateContent{HTML: "<p>First</p>"}})
	w.check(err)
	p := open(t, w.srv.URL(), fmt.Sprintf("#/templates/%d", made.ID), desk)
	p.click("button", "Edit")
	p.fill("dialog [name='content.html']", "<p>Mine</p>")
	if warned := p.text("dialog .changed"); warned != "" {
		t.Errorf("nobody has changed it, and it says %q", warned)
	}
	_, err = w.sdk.Templates.Update(t.Context(), made.ID, client.TemplateUpdate{Name: new("Theirs"), Content: &client.TemplateContentUpdate{HTML: new("<p>Theirs</p>")}})
	w.check(err)
	p.says("dialog .changed", "The record has changed")
	p.says("dialog h2", "Edit Theirs")
	if html := eval[string](p, `document.querySelector("dialog [name='content.html']").value`); html != "<p>Mine</p>" {
		t.Errorf("what was typed became %q", html)
	}
	p.click("dialog button", "Save")
	p.until(`!document.querySelector('dialog.create')`)
	now, err := w.sdk.Templates.Get(t.Context(), made.ID)
	if err != nil || now.Name != "Welcome" || now.Content.HTML != "<p>Mine</p>" {
		t.Errorf("%+v, %v", now, err)
	}
	p.click("button", "Edit")
	p.until(`document.querySelector("dialog [name='content.html']")?.value === '<p>Mine</p>' && !document.querySelector('dialog .changed')`)
}

// A campaign is found by its id among any number whose name or subject has the same digits.
func TestCampaignAmongMany(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers")
	create := func(name string) client.Campaign {
		made, err := w.sdk.Campaigns.Create(t.Context(), client.CampaignCreate{
			ListID: list.ID, Name: name, Sender: client.Sender{Email: "s@example.org"}, Content: client.MessageContent{Subject: "S", Text: "T"},
		})
		w.check(err)
		return made
	}
	first := create("The first")
	id := strconv.FormatInt(first.ID, 10)
	for range 1000 {
		create("Copy of " + id)
	}
	p := open(t, w.srv.URL(), "#/campaigns/"+id, desk)
	p.says(".detail h2", "The first")
}

// TestHostileNamesInErrors: control characters in names do not hide text in error messages.
func TestHostileNamesInErrors(t *testing.T) {
	w := newWorld(t)
	const name = "pay\u202egpj<img src=x onerror=document.title=1>"
	made, err := w.sdk.Templates.Create(t.Context(), client.TemplateCreate{Name: name, Content: client.TemplateContent{HTML: "<p>x</p>"}})
	w.check(err)
	list := w.list(name)
	_, err = w.sdk.Campaigns.Create(t.Context(), client.CampaignCreate{
		ListID: list.ID, Name: name, Sender: client.Sender{Email: "s@example.org"}, Content: client.MessageContent{Subject: name, TemplateID: made.ID},
	})
	w.check(err)
	p := open(t, w.srv.URL(), fmt.Sprintf("#/templates/%d", made.ID), desk)
	p.click("button", "Edit")
	p.until(`document.querySelector('dialog.create[open]')`)
	p.says("dialog h2", "U+202E")
	p.click("dialog button", "Save")
	p.says(".toast", "U+202E")
	for _, place := range []string{"templates", "campaigns", "lists", "overview"} {
		p.goTo("#/" + place)
		p.says("h1", "")
		if n := eval[int](p, `document.querySelectorAll('main img').length`); n > 0 {
			t.Errorf("%s: %d pictures", place, n)
		}
	}
	p.goTo("#/lists")
	p.says(".cards", "U+202E")
}

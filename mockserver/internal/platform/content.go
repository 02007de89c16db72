package platform

// What several requests have in common: names, senders and contents.

import (
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// senderOf checks and takes a sender; one that is left out is left out.
func senderOf(in api.Sender, required bool) (sender, error) {
	if in == (api.Sender{}) && !required {
		return sender{}, nil
	}
	if !isEmail(in.Email) {
		return sender{}, problem.Invalid("not an email address", "body", "sender", "email")
	}
	return sender{in.Name, in.Email}, nil
}

// requireName refuses a resource without a name.
func requireName(name string) error {
	if name == "" {
		return problem.Invalid("a name must not be empty", "body", "name")
	}
	return nil
}

// contentOf checks and takes the content of a request.
func (t *tx) contentOf(in api.MessageContent) (content, error) {
	c := content{Subject: in.Subject, TemplateID: in.TemplateID, HTML: in.HTML, Text: in.Text}
	if c.TemplateID == 0 {
		return c, nil
	}
	if c.HTML != "" || c.Text != "" {
		return c, problem.Invalid("either a template or inline parts", "body", "content", "template_id")
	}
	_, err := t.account.Templates.find(c.TemplateID, "body", "content", "template_id")
	return c, err
}

// bodyOf is contentOf for an email that is sent now: it must say something.
func (t *tx) bodyOf(in api.MessageContent) (content, error) {
	c, err := t.contentOf(in)
	if err != nil {
		return c, err
	}
	if c.TemplateID == 0 && c.empty() {
		return c, problem.Invalid("want template_id, html or text", "body", "content")
	}
	return t.sendable(c), nil
}

// changeContent applies a partial update. A template takes the place of inline
// parts, and the other way round.
func (t *tx) changeContent(c content, in api.MessageContentUpdate) (content, error) {
	inline := in.HTML != nil || in.Text.Set
	if in.TemplateID != nil && inline {
		return c, problem.Invalid("either a template or inline parts", "body", "content", "template_id")
	}
	if in.Subject != nil {
		c.Subject = *in.Subject
	}
	if in.TemplateID != nil {
		_, err := t.account.Templates.find(*in.TemplateID, "body", "content", "template_id")
		return content{Subject: c.Subject, TemplateID: *in.TemplateID}, err
	}
	if inline && c.TemplateID != 0 {
		c = content{Subject: c.Subject}
	}
	if in.HTML != nil {
		c.HTML = *in.HTML
	}
	if in.Text.Set {
		c.Text = in.Text.Value
	}
	return c, nil
}

// sendable returns the content with the parts of its template.
func (t *tx) sendable(c content) content {
	if tpl := t.account.Templates.byID[c.TemplateID]; tpl != nil {
		c.HTML, c.Text = tpl.HTML, tpl.Text
	}
	return c
}

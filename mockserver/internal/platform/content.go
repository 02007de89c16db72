package platform

import (
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// checkSender returns an error unless the sender has a valid address. An optional
// sender may be empty.
func checkSender(in api.Sender, required bool) error {
	if !isEmail(in.Email) && (required || in != api.Sender{}) {
		return problem.Invalid("not an email address", "body", "sender", "email")
	}
	return nil
}

// templateNamed checks that the account has a template with the given id.
func (t *tx) templateNamed(id int64) error {
	_, err := t.account.Templates.find(id, "template", "body", "content", "template_id")
	return err
}

// checkContent returns an error unless the content has either an existing template or
// inline parts. Optional content may omit both the template and the inline parts.
func (t *tx) checkContent(c api.MessageContent, required bool) error {
	switch {
	case c.TemplateID != 0 && hasParts(c):
		return problem.Invalid("must contain either a template or inline parts", "body", "content", "template_id")
	case c.TemplateID != 0:
		return t.templateNamed(c.TemplateID)
	case required && !hasParts(c):
		return problem.Invalid("must contain template_id, html or text", "body", "content")
	}
	return nil
}

// changeContent applies a partial update. A template replaces inline parts, and
// inline parts replace a template.
func (t *tx) changeContent(c *api.MessageContent, in api.MessageContentUpdate) error {
	inline := in.HTML != nil || in.Text.Set
	if in.TemplateID != nil && inline {
		return problem.Invalid("must contain either a template or inline parts", "body", "content", "template_id")
	}
	set(&c.Subject, in.Subject)
	if in.TemplateID != nil {
		*c = api.MessageContent{Subject: c.Subject, TemplateID: *in.TemplateID}
		return t.templateNamed(*in.TemplateID)
	}
	if inline && c.TemplateID != 0 {
		*c = api.MessageContent{Subject: c.Subject}
	}
	set(&c.HTML, in.HTML)
	if in.Text.Set {
		c.Text = in.Text.Value
	}
	return nil
}

// set copies a field from an update, unless the update omits it.
func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// sendable returns the content, including the parts of its template.
func (t *tx) sendable(c api.MessageContent) api.MessageContent {
	if tpl := t.account.Templates.get(c.TemplateID); tpl != nil {
		c.HTML, c.Text = tpl.Content.HTML, tpl.Content.Text
	}
	return c
}

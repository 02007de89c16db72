package platform

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/mail"
)

func (t *tx) createTemplate(r api.CreateTemplateRequestObject) (api.CreateTemplateResponseObject, error) {
	tpl := &api.Template{
		TemplateID: t.newID(),
		Name:       r.Body.Name,
		Content:    r.Body.Content,
		CreatedOn:  t.unix(),
		UpdatedOn:  t.unix(),
	}
	t.account.Templates.add(tpl.TemplateID, tpl)
	return api.CreateTemplate201JSONResponse(*tpl), nil
}

func (t *tx) listTemplates(r api.ListTemplatesRequestObject) (api.ListTemplatesResponseObject, error) {
	data, pagination, err := pageOf(t.account.Templates.inOrder, r.Params.Page, r.Params.PerPage, r.Params.WithCount, copyOf)
	return api.ListTemplates200JSONResponse{Data: data, Pagination: pagination}, err
}

func (t *tx) getTemplate(r api.GetTemplateRequestObject) (api.GetTemplateResponseObject, error) {
	tpl, err := t.template(r.TemplateID)
	if err != nil {
		return nil, err
	}
	return api.GetTemplate200JSONResponse(*tpl), nil
}

func (t *tx) template(id int64) (*api.Template, error) {
	return t.account.Templates.find(id, "template", "path", "template_id")
}

func (t *tx) updateTemplate(r api.UpdateTemplateRequestObject) (api.UpdateTemplateResponseObject, error) {
	tpl, err := t.template(r.TemplateID)
	if err != nil {
		return nil, err
	}
	tpl = t.account.Templates.edit(tpl.TemplateID)
	set(&tpl.Name, r.Body.Name)
	if in := r.Body.Content; in != nil {
		set(&tpl.Content.HTML, in.HTML)
		if in.Text.Set {
			tpl.Content.Text = in.Text.Value
		}
	}
	tpl.UpdatedOn = t.unix()
	return api.UpdateTemplate200JSONResponse(*tpl), nil
}

// deleteTemplate implements DELETE /templates/{template_id}. The messages, campaigns
// and workflows that use the template keep its content.
func (t *tx) deleteTemplate(r api.DeleteTemplateRequestObject) (api.DeleteTemplateResponseObject, error) {
	tpl, err := t.template(r.TemplateID)
	if err != nil {
		return nil, err
	}
	for c := range t.account.Campaigns.all() {
		if c.Content.TemplateID == tpl.TemplateID {
			t.account.Campaigns.edit(c.CampaignID).Content = t.withTemplateParts(c.Content)
		}
	}
	for w := range t.account.Workflows.all() {
		if w.Content.TemplateID == tpl.TemplateID {
			t.account.Workflows.edit(w.WorkflowID).Content = t.withTemplateParts(w.Content)
		}
	}
	t.account.Templates.remove(tpl.TemplateID)
	return api.DeleteTemplate204Response{}, nil
}

// renderTemplate implements GET /templates/{template_id}/render. It returns the HTML
// part, and removes the merge tags.
func (t *tx) renderTemplate(r api.RenderTemplateRequestObject) (api.RenderTemplateResponseObject, error) {
	tpl, err := t.template(r.TemplateID)
	if err != nil {
		return nil, err
	}
	return renderedTemplate(mail.MergeHTML(tpl.Content.HTML, nil)), nil
}

// renderedTemplate is an HTML response whose content type includes the charset, which
// the generated response type omits.
type renderedTemplate string

// VisitRenderTemplateResponse implements [api.RenderTemplateResponseObject].
func (html renderedTemplate) VisitRenderTemplateResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(html)))
	_, err := io.WriteString(w, string(html))
	return err
}

// checkSender returns an error unless the sender has a valid address. An optional
// sender may be empty.
func checkSender(in api.Sender, required bool) error {
	if !contract.IsEmail(in.Email) && (required || in != api.Sender{}) {
		return apierror.Invalid("not an email address", "body", "sender", "email")
	}
	return nil
}

func (t *tx) checkTemplate(id int64) error {
	_, err := t.account.Templates.find(id, "template", "body", "content", "template_id")
	return err
}

func errTwoContents() error {
	return apierror.Invalid("must contain either a template or inline parts", "body", "content", "template_id")
}

// checkContent returns an error unless the content has either an existing template or
// inline parts. If the content is optional, it may have neither.
func (t *tx) checkContent(c api.MessageContent, required bool) error {
	switch {
	case c.TemplateID != 0 && hasParts(c):
		return apierror.Join(errTwoContents(), t.checkTemplate(c.TemplateID))
	case c.TemplateID != 0:
		return t.checkTemplate(c.TemplateID)
	case required && !hasParts(c):
		return apierror.Invalid("must contain template_id, html or text", "body", "content")
	}
	return nil
}

// Violations returns the errors of an invalid body that depend on the account's records, so
// that one response can list all errors. If a body is otherwise valid, the operations find
// these errors themselves.
func (p *Platform) Violations(accountID int64, schema *contract.Schema, body []byte) (err error) {
	var fields, parts map[string]json.RawMessage // maps, because names are case-sensitive
	_ = json.Unmarshal(body, &fields)
	_ = json.Unmarshal(fields["content"], &parts)
	var listID int64
	var in api.MessageContent // a value of the wrong type stays zero
	if schema.Property("list_id") != nil {
		_ = json.Unmarshal(fields["list_id"], &listID)
	}
	if content := schema.Property("content"); content != nil && content.Schema.Property("template_id") != nil {
		_ = json.Unmarshal(parts["template_id"], &in.TemplateID)
		_ = json.Unmarshal(parts["html"], &in.HTML)
		_ = json.Unmarshal(parts["text"], &in.Text)
	}
	_ = p.transact(nil, func(t *tx) error {
		t.account = p.accountLocked(accountID)
		err = apierror.Join(t.checkList(listID), t.checkContent(in, false))
		return nil
	})
	return err
}

// changeContent applies a partial update. Setting a template deletes the inline parts,
// and setting an inline part removes the template, because they exclude each other.
func (t *tx) changeContent(c *api.MessageContent, in api.MessageContentUpdate) error {
	inline := in.HTML != nil || in.Text.Set
	if in.TemplateID != nil && inline {
		return apierror.Join(errTwoContents(), t.checkTemplate(*in.TemplateID))
	}
	set(&c.Subject, in.Subject)
	if in.TemplateID != nil {
		*c = api.MessageContent{Subject: c.Subject, TemplateID: *in.TemplateID}
		return t.checkTemplate(*in.TemplateID)
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

// withTemplateParts returns the content, including the parts of its template.
func (t *tx) withTemplateParts(c api.MessageContent) api.MessageContent {
	if tpl := t.account.Templates.get(c.TemplateID); tpl != nil {
		c.HTML, c.Text = tpl.Content.HTML, tpl.Content.Text
	}
	return c
}

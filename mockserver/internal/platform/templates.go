package platform

import (
	"io"
	"net/http"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/mail"
)

// createTemplate implements POST /templates.
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

// listTemplates implements GET /templates.
func (t *tx) listTemplates(r api.ListTemplatesRequestObject) (api.ListTemplatesResponseObject, error) {
	data, pagination, err := pageOf(t.account.Templates.len(), t.account.Templates.from, r.Params.Page, r.Params.PerPage, r.Params.WithCount, templateWire)
	return api.ListTemplates200JSONResponse{Data: data, Pagination: pagination}, err
}

// getTemplate implements GET /templates/{template_id}.
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

// updateTemplate implements PATCH /templates/{template_id}.
func (t *tx) updateTemplate(r api.UpdateTemplateRequestObject) (api.UpdateTemplateResponseObject, error) {
	tpl, err := t.template(r.TemplateID)
	if err != nil {
		return nil, err
	}
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

// deleteTemplate implements DELETE /templates/{template_id}. Messages, campaigns and
// workflows that use the template keep its content.
func (t *tx) deleteTemplate(r api.DeleteTemplateRequestObject) (api.DeleteTemplateResponseObject, error) {
	tpl, err := t.template(r.TemplateID)
	if err != nil {
		return nil, err
	}
	for c := range t.account.Campaigns.all() {
		t.keepParts(&c.Content, tpl.TemplateID)
	}
	for w := range t.account.Workflows.all() {
		t.keepParts(&w.Content, tpl.TemplateID)
	}
	t.account.Templates.remove(tpl.TemplateID)
	return api.DeleteTemplate204Response{}, nil
}

// keepParts replaces a reference to the template with the template's parts.
func (t *tx) keepParts(c *api.MessageContent, templateID int64) {
	if c.TemplateID == templateID {
		*c = t.sendable(*c)
	}
}

// renderTemplate implements GET /templates/{template_id}/render. It returns the
// HTML part without its merge tags.
func (t *tx) renderTemplate(r api.RenderTemplateRequestObject) (api.RenderTemplateResponseObject, error) {
	tpl, err := t.template(r.TemplateID)
	if err != nil {
		return nil, err
	}
	return renderedTemplate(mail.MergeHTML(tpl.Content.HTML, nil)), nil
}

// renderedTemplate is an HTML response whose content type includes the charset.
// The generated response type omits the charset.
type renderedTemplate string

// VisitRenderTemplateResponse implements [api.RenderTemplateResponseObject].
func (html renderedTemplate) VisitRenderTemplateResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(html)))
	_, err := io.WriteString(w, string(html))
	return err
}

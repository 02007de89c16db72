package platform

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/mail"
)

// CreateTemplate implements POST /templates.
func (p *Platform) CreateTemplate(
	ctx context.Context, r api.CreateTemplateRequestObject,
) (api.CreateTemplateResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.CreateTemplateResponseObject, error) {
		if err := requireName(r.Body.Name); err != nil {
			return nil, err
		}
		tpl := &template{
			ID:        t.newID(),
			Name:      r.Body.Name,
			HTML:      r.Body.Content.HTML,
			Text:      r.Body.Content.Text,
			CreatedOn: t.unix(),
			UpdatedOn: t.unix(),
		}
		t.account.Templates.add(tpl.ID, tpl)
		return api.CreateTemplate201JSONResponse(tpl.wire()), nil
	})
}

// ListTemplates implements GET /templates.
func (p *Platform) ListTemplates(
	ctx context.Context, r api.ListTemplatesRequestObject,
) (api.ListTemplatesResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListTemplatesResponseObject, error) {
		data, pagination := pageOfOrder(page, &t.account.Templates.inOrder, (*template).wire)
		return api.ListTemplates200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}

// GetTemplate implements GET /templates/{template_id}.
func (p *Platform) GetTemplate(
	ctx context.Context, r api.GetTemplateRequestObject,
) (api.GetTemplateResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.GetTemplateResponseObject, error) {
		tpl, err := t.template(r.TemplateID)
		if err != nil {
			return nil, err
		}
		return api.GetTemplate200JSONResponse(tpl.wire()), nil
	})
}

func (t *tx) template(id int64) (*template, error) {
	return t.account.Templates.find(id, "path", "template_id")
}

// UpdateTemplate implements PATCH /templates/{template_id}.
func (p *Platform) UpdateTemplate(
	ctx context.Context, r api.UpdateTemplateRequestObject,
) (api.UpdateTemplateResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.UpdateTemplateResponseObject, error) {
		tpl, err := t.template(r.TemplateID)
		if err != nil {
			return nil, err
		}
		if r.Body.Name != nil {
			if err := requireName(*r.Body.Name); err != nil {
				return nil, err
			}
			tpl.Name = *r.Body.Name
		}
		if content := r.Body.Content; content != nil {
			if content.HTML != nil {
				tpl.HTML = *content.HTML
			}
			if content.Text.Set {
				tpl.Text = content.Text.Value
			}
		}
		tpl.UpdatedOn = t.unix()
		return api.UpdateTemplate200JSONResponse(tpl.wire()), nil
	})
}

// DeleteTemplate implements DELETE /templates/{template_id}. What was made from
// the template, and campaigns and workflows that name it, keep its content.
func (p *Platform) DeleteTemplate(
	ctx context.Context, r api.DeleteTemplateRequestObject,
) (api.DeleteTemplateResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.DeleteTemplateResponseObject, error) {
		tpl, err := t.template(r.TemplateID)
		if err != nil {
			return nil, err
		}
		for user := range t.account.Templates.users[tpl.ID] {
			*user = t.sendable(*user)
		}
		t.account.Templates.remove(tpl)
		return api.DeleteTemplate204Response{}, nil
	})
}

// RenderTemplate implements GET /templates/{template_id}/render: the HTML part
// with its merge tags filled with nothing.
func (p *Platform) RenderTemplate(
	ctx context.Context, r api.RenderTemplateRequestObject,
) (api.RenderTemplateResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.RenderTemplateResponseObject, error) {
		tpl, err := t.template(r.TemplateID)
		if err != nil {
			return nil, err
		}
		return renderedTemplate(mail.MergeHTML(tpl.HTML, nil)), nil
	})
}

// renderedTemplate is an answer that says its charset, which the document leaves
// open and the generated one leaves out.
type renderedTemplate string

// VisitRenderTemplateResponse implements [api.RenderTemplateResponseObject].
func (html renderedTemplate) VisitRenderTemplateResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(html)))
	_, err := io.WriteString(w, string(html))
	return err
}

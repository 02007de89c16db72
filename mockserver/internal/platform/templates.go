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
		tpl := &api.Template{
			TemplateID: t.newID(),
			Name:       r.Body.Name,
			Content:    r.Body.Content,
			CreatedOn:  t.unix(),
			UpdatedOn:  t.unix(),
		}
		t.account.Templates.add(tpl.TemplateID, tpl)
		return api.CreateTemplate201JSONResponse(*tpl), nil
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
		data, pagination := pageOf(page, t.account.Templates.len(), t.account.Templates.from, templateWire)
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
		return api.GetTemplate200JSONResponse(*tpl), nil
	})
}

func (t *tx) template(id int64) (*api.Template, error) {
	return t.account.Templates.find(id, "template", "path", "template_id")
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
		set(&tpl.Name, r.Body.Name)
		if in := r.Body.Content; in != nil {
			set(&tpl.Content.HTML, in.HTML)
			if in.Text.Set {
				tpl.Content.Text = in.Text.Value
			}
		}
		tpl.UpdatedOn = t.unix()
		return api.UpdateTemplate200JSONResponse(*tpl), nil
	})
}

// DeleteTemplate implements DELETE /templates/{template_id}. Messages,
// campaigns and workflows that use the template keep its content.
func (p *Platform) DeleteTemplate(
	ctx context.Context, r api.DeleteTemplateRequestObject,
) (api.DeleteTemplateResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.DeleteTemplateResponseObject, error) {
		tpl, err := t.template(r.TemplateID)
		if err != nil {
			return nil, err
		}
		for user := range t.account.Templates.users[tpl.TemplateID] {
			*user = t.sendable(*user)
		}
		delete(t.account.Templates.users, tpl.TemplateID)
		t.account.Templates.remove(tpl.TemplateID)
		return api.DeleteTemplate204Response{}, nil
	})
}

// RenderTemplate implements GET /templates/{template_id}/render. It returns the
// HTML part without its merge tags.
func (p *Platform) RenderTemplate(
	ctx context.Context, r api.RenderTemplateRequestObject,
) (api.RenderTemplateResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.RenderTemplateResponseObject, error) {
		tpl, err := t.template(r.TemplateID)
		if err != nil {
			return nil, err
		}
		return renderedTemplate(mail.MergeHTML(tpl.Content.HTML, nil)), nil
	})
}

// renderedTemplate is a response with a charset, which the generated type
// omits.
type renderedTemplate string

// VisitRenderTemplateResponse implements [api.RenderTemplateResponseObject].
func (html renderedTemplate) VisitRenderTemplateResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(html)))
	_, err := io.WriteString(w, string(html))
	return err
}

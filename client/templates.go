package client

import (
	"context"
	"iter"
)

// Templates are reusable email designs with merge tags, written {{name}}.
// (Specification: Templates.)
type Templates struct{ x exchange }

// Create creates a template. The name is required.
func (s *Templates) Create(ctx context.Context, template TemplateCreate) (Template, error) {
	return do(ctx, s.x, createTemplateRequest(template), readTemplate)
}

// Get returns a template.
func (s *Templates) Get(ctx context.Context, templateID int64) (Template, error) {
	return do(ctx, s.x, getTemplateRequest(templateID), readTemplate)
}

// Update changes what update names and leaves the rest. Emails that were
// submitted before keep what they were made of.
func (s *Templates) Update(ctx context.Context, templateID int64, update TemplateUpdate) (Template, error) {
	return do(ctx, s.x, updateTemplateRequest(templateID, update), readTemplate)
}

// Delete deletes a template. Deleting what is gone is [ErrNotFound].
func (s *Templates) Delete(ctx context.Context, templateID int64) error {
	return perform(ctx, s.x, deleteTemplateRequest(templateID), nil)
}

// Render returns the template as HTML, its merge tags filled with nothing.
func (s *Templates) Render(ctx context.Context, templateID int64) (html string, err error) {
	r := renderTemplateRequest(templateID)
	r.html = true
	err = perform(ctx, s.x, r, func(body []byte) error {
		html = string(body)
		return nil
	})
	return html, err
}

// Find returns the template with exactly this name: the oldest, if several have it.
// The platform has no filter for that, so Find looks through the pages of List, of
// 100 each, until it is found. If there is none, the error is [ErrNotFound]; no
// name is [ErrValidation].
func (s *Templates) Find(ctx context.Context, name string) (Template, error) {
	params := ListTemplatesParams{PerPage: maxPerPage}
	is := func(t Template) bool { return t.Name == name }
	return find(s.All(ctx, params), listTemplatesRequest(params), "name", name, is)
}

// List returns one page of templates, the oldest first.
func (s *Templates) List(ctx context.Context, params ListTemplatesParams) (TemplatePage, error) {
	return do(ctx, s.x, listTemplatesRequest(params), readTemplatePage)
}

// All iterates over the items of List, from params.Page on. See Pagination in
// the package documentation.
func (s *Templates) All(
	ctx context.Context, params ListTemplatesParams, opts ...IterOption,
) iter.Seq2[Template, error] {
	return paginate(ctx, s.x, readTemplatePage, params.Page, opts, func(page int64) request {
		params := params
		params.Page = page
		return listTemplatesRequest(params)
	})
}

func (p TemplatePage) items() ([]Template, Pagination) { return p.Data, p.Pagination }

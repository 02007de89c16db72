package client

import "context"

// Templates manages reusable email designs with merge tags such as {{name}}.
// (Specification: Templates.)
type Templates struct{ handler handler }

// Render returns the HTML of the template with its merge tags removed.
func (s *Templates) Render(ctx context.Context, templateID int64) (html string, err error) {
	r := renderTemplateRequest(templateID)
	r.html = true
	err = s.handler.call(ctx, r, func(body []byte) error {
		html = string(body)
		return nil
	})
	return html, err
}

// Ensure returns the oldest template with the name template.Name. If no template has
// this name, Ensure creates the template. Ensure does not compare or change the content
// of an existing template. If several processes call Ensure at the same time, all calls
// return the same template. If a call creates a duplicate, it deletes the duplicate.
//
// Call Ensure again after [ErrOutcomeUnknown], or if a request fails after the
// template was created. If the name is empty, the error is [ErrValidation].
func (s *Templates) Ensure(ctx context.Context, template TemplateCreate) (Template, error) {
	first, own, err := ensure(
		func() (Template, error) { return s.Find(ctx, template.Name) },
		func() (Template, error) { return s.Create(ctx, template) },
	)
	if err != nil || own.ID == 0 || own.ID == first.ID {
		return first, err
	}
	return first, s.Delete(ctx, own.ID)
}

package platform

import (
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/mail"
)

// FilledTemplate returns the parts of a template in any account, rendered with the
// given attributes. If ok is false, the template does not exist.
func (p *Platform) FilledTemplate(id int64, attributes map[string]string) (html, text string, ok bool) {
	return p.filled(attributes, func(a *account) *api.MessageContent {
		if found := a.Templates.get(id); found != nil {
			return &api.MessageContent{HTML: found.Content.HTML, Text: found.Content.Text}
		}
		return nil
	})
}

// FilledCampaign returns the parts of a campaign in any account, rendered
// with the given attributes. If ok is false, the campaign does not exist.
func (p *Platform) FilledCampaign(id int64, attributes map[string]string) (html, text string, ok bool) {
	return p.filled(attributes, func(a *account) *api.MessageContent {
		if found := a.Campaigns.get(id); found != nil {
			return new((&tx{account: a}).withTemplateParts(found.Content))
		}
		return nil
	})
}

// filled searches all accounts for a template or a campaign, and renders its content.
func (p *Platform) filled(attributes map[string]string, of func(*account) *api.MessageContent) (html, text string, ok bool) {
	value := func(name string) string { return attributes[name] }
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		if c := of(a); c != nil {
			return mail.MergeHTML(c.HTML, value), mail.MergeText(c.Text, value), true
		}
	}
	return "", "", false
}

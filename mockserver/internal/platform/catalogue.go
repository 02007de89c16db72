package platform

import (
	"cmp"

	"example.com/emailplatform/mockserver/internal/problem"
)

// catalogue holds the templates of an account, the oldest first, and who uses them:
// a campaign's or workflow's content that names a template is among its users.
type catalogue struct {
	byID    map[int64]*template
	inOrder order[*template] // the same
	last    int64            // place that was given away
	users   map[int64]map[*content]bool
}

func newCatalogue() catalogue {
	return catalogue{
		byID:    map[int64]*template{},
		inOrder: order[*template]{Compare: func(a, b *template) int { return cmp.Compare(a.place, b.place) }},
		users:   map[int64]map[*content]bool{},
	}
}

func (c *catalogue) add(id int64, tpl *template) {
	c.last++
	tpl.place = c.last
	c.byID[id] = tpl
	c.inOrder.Insert(tpl)
}

func (c *catalogue) remove(tpl *template) {
	delete(c.byID, tpl.ID)
	delete(c.users, tpl.ID)
	c.inOrder.Remove(tpl)
}

// find returns the template with the id, or the error that answers for it.
func (c *catalogue) find(id int64, loc ...any) (*template, error) {
	tpl := c.byID[id]
	if tpl == nil {
		return nil, problem.NotFound("template", id, loc...)
	}
	return tpl, nil
}

// use notes which template a content names now, after it named another or none.
func (c *catalogue) use(user *content, before int64) {
	if before == user.TemplateID {
		return
	}
	if delete(c.users[before], user); len(c.users[before]) == 0 {
		delete(c.users, before)
	}
	if user.TemplateID == 0 {
		return
	}
	if c.users[user.TemplateID] == nil {
		c.users[user.TemplateID] = map[*content]bool{}
	}
	c.users[user.TemplateID][user] = true
}

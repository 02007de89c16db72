package client

import (
	"slices"
	"strings"
)

// literalName is the name of the custom attribute whose value is "{{".
const literalName = "literal_braces"

// Literal returns a copy of the submission whose subject, HTML and text arrive unchanged.
// Without Literal, the platform replaces each merge tag, such as {{name}}, in the content,
// even if the tag came from a template engine or a user. Call Literal after the content is
// complete, and only once, because a second call would change the content again.
//
// If the content contains "{{", Literal adds the custom attribute literal_braces, whose
// value is "{{". Merge tags in a template of the platform still work.
func (s EmailSubmission) Literal() EmailSubmission {
	found := false
	for _, text := range []*string{&s.Content.Subject, &s.Content.HTML, &s.Content.Text} {
		found = found || strings.Contains(*text, "{{")
		*text = strings.ReplaceAll(*text, "{{", "{{"+literalName+"}}")
	}
	if found {
		s.CustomAttributes = append(slices.Clip(s.CustomAttributes), CustomAttribute{Name: literalName, Value: "{{"})
	}
	return s
}

package mail

import (
	"fmt"
	"slices"

	"example.com/emailplatform/mockserver/internal/suggest"
)

// Tags are the merge tags of a message.
type Tags struct {
	Content string                   // all content with merge tags: subject, HTML and text
	Value   func(name string) string // the value of a tag for the recipient
	Known   []string                 // the names that can have a value
}

// names returns the first 100 tag names in the content, without duplicates.
func (t Tags) names() (names []string) {
	MergeText(t.Content, func(name string) string {
		if len(names) < 100 && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return ""
	})
	return names
}

// empty returns a finding for each tag without a value.
func (t Tags) empty() (found []Finding) {
	for _, name := range t.names() {
		if t.Value(name) != "" {
			continue
		}
		text := fmt.Sprintf("The merge tag {{%s}} is empty for this recipient.", name)
		if !slices.Contains(t.Known, name) {
			if right := suggest.Closest(name, t.Known); right != "" {
				text += fmt.Sprintf(" Did you mean {{%s}}?", right)
			}
		}
		found = append(found, Finding{"empty_tag", text})
	}
	return found
}

package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

func contactsTool() *tool {
	return &tool{
		Tool: sdk.Tool{
			Name:  "contacts",
			Title: "Contacts",
			Description: `Lists the contacts of a list, or creates a contact on it.
Operation "list" returns one page, by default oldest first; use filter to find single contacts.
Operation "create" adds one contact. The platform may send email to it, for example a welcome email immediately. Create only contacts that the user asked for.
A list contains each address once. Operation "create" reactivates a deleted contact. It rejects an address that the list contains, even if the contact is unsubscribed.`,
			Annotations: &sdk.ToolAnnotations{
				Title:           "Contacts",
				DestructiveHint: new(false),
				OpenWorldHint:   new(true), // a new contact may get email from a workflow
			},
			InputSchema:  contactsInputSchema(),
			OutputSchema: contactsOutputSchema(),
		},
		operations: map[string]operation{
			"list": {
				required: []string{"list_id"},
				optional: []string{"page", "per_page", "sort", "filter"},
				run:      runs(listContacts),
			},
			"create": {
				required: []string{"list_id", "email"},
				optional: []string{"custom_attributes"},
				run:      runs(createContact),
			},
		},
	}
}

func contactsInputSchema() *jsonschema.Schema {
	return closed(object([]string{"operation", "list_id"}, []property{
		{"operation", choice("The operation.", "list", "create")},
		{"list_id", integer("The id of the list. Ask the user if you do not know it.", 1)},
		{"page", pageArgument()},
		{"per_page", perPageArgument()},
		{"sort", text(`For list: the sort order, as field:direction. The field is id, email, status or subscribed_on, and the direction is asc or desc. Example: email:asc`)},
		{"filter", text("For list: the filter, as field:value. The result contains only matching contacts. " +
			"The field is status, email, tag or interest. Statuses: " + statuses() + ". " +
			"Examples: status:active, email:ada@example.com, tag:vip")},
		{"email", text("For create, required: the email address, without a name. Example: ada@example.com")},
		{"custom_attributes", textsByName(`For create: the custom attributes of the contact; all values are strings. Example: {"first_name":"Ada"}`)},
	}))
}

func contactsOutputSchema() *jsonschema.Schema {
	return object(nil, append([]property{
		{"contact", contactSchema("For create: the created contact.")},
		{"contacts", array("For list: the contacts on this page.", contactSchema(""))},
	}, pageProperties()...))
}

func contactSchema(description string) *jsonschema.Schema {
	s := object([]string{"id", "email", "status"}, []property{
		{"id", integer("The contact's id.", 0)},
		{"email", text("The email address.")},
		{"status", text("The status: " + statuses() + "; other values are possible. A pending contact has not confirmed yet, " +
			"and a spam contact has reported email as spam. Only active contacts receive marketing email.")},
		{"subscribed_on", text("The time when the contact subscribed to the list, in UTC.")},
		{"custom_attributes", textsByName("The custom attributes of the contact.")},
		{"tags", texts("The tags of the contact.")},
		{"interests", texts("The interests of the contact.")},
		{"last_bounce_type", text("The type of the last bounce, such as none, soft or hard.")},
		{"bounces_count", integer("The number of bounced emails to the contact.", 0)},
	})
	s.Description = description
	return s
}

type contactPage struct {
	Contacts []contact `json:"contacts"`
	pageOutput
}

type createdContact struct {
	Contact contact `json:"contact"`
}

// contact is a contact in the result of a tool. Times are strings, and
// attributes are an object.
type contact struct {
	ID               int64             `json:"id"`
	Email            string            `json:"email"`
	Status           string            `json:"status"`
	SubscribedOn     string            `json:"subscribed_on,omitzero"`
	CustomAttributes map[string]string `json:"custom_attributes,omitzero"`
	Tags             []string          `json:"tags,omitzero"`
	Interests        []string          `json:"interests,omitzero"`
	LastBounceType   string            `json:"last_bounce_type,omitzero"`
	BouncesCount     int64             `json:"bounces_count,omitzero"`
}

func newContact(c client.Contact) contact {
	out := contact{
		ID:             c.ID,
		Email:          c.Email,
		Status:         string(c.Status),
		Tags:           c.Tags,
		Interests:      c.Interests,
		LastBounceType: string(c.LastBounceType),
		BouncesCount:   c.BouncesCount,
	}
	if !c.SubscribedOn.IsZero() {
		out.SubscribedOn = c.SubscribedOn.Format(time.RFC3339)
	}
	if len(c.CustomAttributes) > 0 {
		out.CustomAttributes = make(map[string]string, len(c.CustomAttributes))
	}
	for _, a := range c.CustomAttributes {
		out.CustomAttributes[a.Name] = a.Value
	}
	return out
}

// line returns the contact in one line with truncated values, for example `12
// ada@example.com active, subscribed on 2026-05-01T09:00:00Z, first_name="Ada",
// tags ["vip"]`.
func (c contact) line() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d %s %s", c.ID, oneLine(c.Email), oneLine(c.Status))
	if c.SubscribedOn != "" {
		fmt.Fprintf(&s, ", subscribed on %s", c.SubscribedOn)
	}
	for _, name := range slices.Sorted(maps.Keys(c.CustomAttributes)) {
		fmt.Fprintf(&s, ", %s=%q", shorten(name), shorten(c.CustomAttributes[name]))
	}
	if len(c.Tags) > 0 {
		fmt.Fprintf(&s, ", tags %q", c.Tags)
	}
	if len(c.Interests) > 0 {
		fmt.Fprintf(&s, ", interests %q", c.Interests)
	}
	if c.LastBounceType != "" {
		fmt.Fprintf(&s, ", last bounce %s", oneLine(c.LastBounceType))
	}
	if c.BouncesCount != 0 {
		fmt.Fprintf(&s, ", %d bounces", c.BouncesCount)
	}
	return s.String()
}

type listContactsInput struct {
	ListID int64  `json:"list_id"`
	Sort   string `json:"sort"`
	Filter string `json:"filter"`
	pageInput
}

func listContacts(ctx context.Context, c *client.Client, in listContactsInput) (toolResult, error) {
	in.pageInput = in.withDefaults()
	page, err := c.Contacts.List(ctx, in.ListID, client.ListContactsParams{
		Page: in.Page, PerPage: in.PerPage, WithCount: true, Sort: in.Sort, Filter: in.Filter,
	})
	if err != nil {
		return toolResult{}, err
	}
	items, about := bound(in.pageInput, page.Data, page.Pagination)
	out := contactPage{Contacts: make([]contact, len(items)), pageOutput: about}
	var s strings.Builder
	fmt.Fprintf(&s, "Contacts of list %d, %d per page. %s.", in.ListID, about.PerPage, about.summary(len(items)))
	for i := range items {
		out.Contacts[i] = newContact(items[i])
		fmt.Fprintf(&s, "\n- %s", out.Contacts[i].line())
	}
	return toolResult{out, s.String()}, nil
}

type createContactInput struct {
	ListID           int64             `json:"list_id"`
	Email            string            `json:"email"`
	CustomAttributes map[string]string `json:"custom_attributes"`
}

func createContact(ctx context.Context, c *client.Client, in createContactInput) (toolResult, error) {
	create := client.ContactCreate{Email: in.Email}
	for _, name := range slices.Sorted(maps.Keys(in.CustomAttributes)) {
		create.CustomAttributes = append(create.CustomAttributes, client.CustomAttribute{Name: name, Value: in.CustomAttributes[name]})
	}
	created, err := c.Contacts.Create(ctx, in.ListID, create)
	if err != nil {
		return toolResult{}, err
	}
	out := newContact(created)
	return toolResult{createdContact{out}, fmt.Sprintf("Created in list %d: %s", in.ListID, out.line())}, nil
}

// oneLine replaces each sequence of white space in s with a single space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten returns s in one line, truncated to about 300 characters.
func shorten(s string) string {
	const most = 300
	s = oneLine(s)
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// statuses lists the known statuses of contacts.
func statuses() string {
	var names []string
	for _, s := range events.ContactStatuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

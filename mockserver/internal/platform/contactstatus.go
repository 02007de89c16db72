package platform

import (
	"encoding/json"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/contract"
)

// The statuses of contacts (specification, "Contact").
const (
	statusActive       = "active"
	statusPending      = "pending"
	statusUnsubscribed = "unsubscribed"
	statusDeleted      = "deleted"
	statusSpam         = "spam"
	statusBounced      = "bounced"
)

// contactStatus contains the rules for a status of contacts (specification, "Contact"). All
// filters, counts and lists of contact statuses use the table contactStatuses. ARCHITECTURE.md lists
// the steps to add a status.
type contactStatus struct {
	name        string
	meaning     string     // of its contacts
	rejects     rejection  // the emails to the contact that are rejected, with the status as the reason
	reactivates activation // when an import activates the contact
	final       bool       // a hard bounce does not replace the status
}

type rejection int

const (
	rejectNone rejection = iota
	rejectMarketing
	rejectAll
)

type activation int

const (
	reactivateAlways         activation = iota
	reactivateIfResubscribed            // only if the request sets resubscribe
	reactivateNever
)

var contactStatuses = []contactStatus{
	{name: statusActive, meaning: "contacts that receive messages"},
	{name: statusPending, meaning: "contacts that have not confirmed yet", rejects: rejectAll, reactivates: reactivateIfResubscribed},
	{name: statusUnsubscribed, meaning: "contacts that unsubscribed", rejects: rejectMarketing, reactivates: reactivateIfResubscribed},
	{name: statusDeleted, meaning: "deleted contacts", rejects: rejectAll}, // effectiveStatus decides whether an import activates it
	{name: statusSpam, meaning: "contacts that reported a message as spam", rejects: rejectAll, reactivates: reactivateNever, final: true},
	{name: statusBounced, meaning: "contacts with a hard bounce", rejects: rejectAll, reactivates: reactivateNever},
	// The mock server never sets the status suppressed, so it has no row: contactStatusNamed returns its rules.
}

// contactStatusNamed returns the rules for a status. A restored state may contain an unknown
// status, such as suppressed. Contacts with such a status receive no email, and no
// import activates them.
func contactStatusNamed(name string) contactStatus {
	if i := slices.IndexFunc(contactStatuses, func(s contactStatus) bool { return s.name == name }); i >= 0 {
		return contactStatuses[i]
	}
	return contactStatus{name: name, rejects: rejectAll, reactivates: reactivateNever}
}

// ContactStatuses returns the names of all statuses of contacts.
func ContactStatuses() (names []string) {
	for _, s := range contactStatuses {
		names = append(names, s.name)
	}
	return names
}

// ContactCounts contains the number of contacts by status. Its JSON object contains all
// statuses.
type ContactCounts map[string]int

// MarshalJSON implements [json.Marshaler]. The fields are in the order of the table
// contactStatuses.
func (c ContactCounts) MarshalJSON() ([]byte, error) {
	var out []string
	for _, s := range contactStatuses {
		member, _ := json.Marshal(map[string]int{s.name: c[s.name]}) // cannot fail
		out = append(out, strings.Trim(string(member), "{}"))
	}
	return []byte("{" + strings.Join(out, ",") + "}"), nil
}

func (c ContactCounts) add(t *contactTable) {
	for _, s := range contactStatuses {
		c[s.name] += t.counts[s.name]
	}
}

// ContactCountsSchema returns the schema of the JSON of ContactCounts.
func ContactCountsSchema() contract.Schema {
	out := contract.Schema{Kind: contract.Object}
	for _, s := range contactStatuses {
		number := &contract.Schema{Kind: contract.Integer, Min: -1 << 63, Max: 1<<63 - 1}
		out.Properties = append(out.Properties, contract.Property{Name: s.name, Required: true, Schema: number, Doc: s.meaning})
	}
	return out
}

package platform

import (
	"encoding/json"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/contract"
)

// status contains the rules for a status of contacts (specification, "Contact"). All
// filters, counts and lists of statuses use the table statuses. ARCHITECTURE.md lists the
// steps to add a status.
type status struct {
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

var statuses = []status{
	{name: statusActive, meaning: "contacts that receive messages"},
	{name: statusPending, meaning: "contacts that have not confirmed yet", rejects: rejectAll, reactivates: reactivateIfResubscribed},
	{name: statusUnsubscribed, meaning: "contacts that unsubscribed", rejects: rejectMarketing, reactivates: reactivateIfResubscribed},
	{name: statusDeleted, meaning: "deleted contacts", rejects: rejectAll}, // effectiveStatus decides whether an import activates it
	{name: statusSpam, meaning: "contacts that reported a message as spam", rejects: rejectAll, reactivates: reactivateNever, final: true},
	{name: statusBounced, meaning: "contacts with a hard bounce", rejects: rejectAll, reactivates: reactivateNever},
	// The mock server never sets the status suppressed, so it has no row: statusNamed returns its rules.
}

// statusNamed returns the rules for a status. A restored state may contain an unknown
// status, such as suppressed. Contacts with such a status receive no email, and no
// import activates them.
func statusNamed(name string) status {
	if i := slices.IndexFunc(statuses, func(s status) bool { return s.name == name }); i >= 0 {
		return statuses[i]
	}
	return status{name: name, rejects: rejectAll, reactivates: reactivateNever}
}

// Statuses returns the names of all statuses of contacts.
func Statuses() (names []string) {
	for _, s := range statuses {
		names = append(names, s.name)
	}
	return names
}

// Contacts contains the number of contacts by status. Its JSON object contains all
// statuses.
type Contacts map[string]int

// MarshalJSON implements [json.Marshaler]. The fields are in the order of the table of
// statuses.
func (c Contacts) MarshalJSON() ([]byte, error) {
	var out []string
	for _, s := range statuses {
		member, _ := json.Marshal(map[string]int{s.name: c[s.name]}) // cannot fail
		out = append(out, strings.Trim(string(member), "{}"))
	}
	return []byte("{" + strings.Join(out, ",") + "}"), nil
}

func (c Contacts) add(t *contactTable) {
	for _, s := range statuses {
		c[s.name] += t.counts[s.name]
	}
}

// ContactsSchema returns the schema of the JSON of Contacts.
func ContactsSchema() contract.Schema {
	out := contract.Schema{Kind: contract.Object}
	for _, s := range statuses {
		number := &contract.Schema{Kind: contract.Integer, Min: -1 << 63, Max: 1<<63 - 1}
		out.Properties = append(out.Properties, contract.Property{Name: s.name, Required: true, Schema: number, Doc: s.meaning})
	}
	return out
}

package environment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/inproc"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// seed is what one object of a seed file says.
type seed struct {
	AccountID  int64            `json:"account_id"`
	Tokens     []seedToken      `json:"tokens"`
	Templates  []map[string]any `json:"templates"`
	Lists      []seedList       `json:"lists"`
	Suppressed []string         `json:"suppressed_emails"`
	Campaigns  []map[string]any `json:"campaigns"`
	Workflows  []map[string]any `json:"workflows"`
	Webhooks   []map[string]any `json:"webhooks"`
}

type seedToken struct {
	Token       string `json:"token"`
	UserID      int64  `json:"user_id"`
	UserEmail   string `json:"user_email"`
	ReadOnly    bool   `json:"read_only"`
	ExpiresInMS int64  `json:"expires_in_ms"`
}

type seedList struct {
	ID             *int64           `json:"list_id"`
	Name           string           `json:"name"`
	PolicyAccepted bool             `json:"policy_accepted"`
	Contacts       []map[string]any `json:"contacts"`
}

// body returns the request body, without the id.
func (l seedList) body() map[string]any {
	body := map[string]any{"name": l.Name}
	if l.ID != nil {
		body["list_id"] = *l.ID
	}
	return body
}

// Seed adds what a text describes, as the method of the same name of the mock's
// Server says.
func (w *Environment) Seed(r io.Reader) error {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	for {
		var in seed
		err := problem.Plainly(problem.Unknown(decoder.Decode(&in), in))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = w.sow(in)
		}
		if err != nil {
			return fmt.Errorf("mockserver: seed: %w", err)
		}
	}
}

// sower adds a seed as a user of the account would.
type sower struct {
	*Environment
	caller    record.Token
	lists     map[string]any // ids by name
	templates map[string]any
}

func (w *Environment) sow(in seed) error {
	if in.AccountID == 0 {
		in.AccountID = w.Account
	}
	if err := w.sowTokens(in); err != nil {
		return err
	}
	caller, ok := w.Access.Of(in.AccountID, 0)
	if !ok {
		return fmt.Errorf("account_id: no token is of account %d", in.AccountID)
	}
	caller.ReadOnly = false // it is a test that fills the account, not a user
	s := &sower{w, caller, map[string]any{}, map[string]any{}}
	steps := []func(seed) error{s.sowTemplates, s.sowLists, s.sowSuppressed, s.sowWorkflows, s.sowCampaigns, s.sowWebhooks}
	for _, step := range steps {
		if err := step(in); err != nil {
			return err
		}
	}
	return nil
}

// sowTokens comes first: an account that a seed makes is filled by its own users.
func (w *Environment) sowTokens(in seed) error {
	for i, t := range in.Tokens {
		err := errors.New("token: required")
		if t.Token != "" {
			err = w.Access.Add(auth.Complete([]record.Token{{
				Value:     t.Token,
				UserID:    t.UserID,
				UserEmail: t.UserEmail,
				AccountID: in.AccountID,
				ReadOnly:  t.ReadOnly,
				ExpiresIn: milliseconds(t.ExpiresInMS),
			}}, "")[0])
		}
		if err != nil {
			return fmt.Errorf("tokens[%d]: %w", i, err)
		}
	}
	return nil
}

// milliseconds is a duration, or a longer one than any may be if a duration
// cannot hold it.
func milliseconds(n int64) time.Duration {
	if n > auth.MaxExpiry.Milliseconds() {
		return auth.MaxExpiry + 1
	}
	return time.Duration(max(n, -1)) * time.Millisecond
}

func (s *sower) sowTemplates(in seed) error {
	for i, item := range in.Templates {
		made, err := s.make("/templates", item, "template_id")
		if err != nil {
			return fmt.Errorf("templates[%d]: %w", i, err)
		}
		s.templates[fmt.Sprint(item["name"])] = made["template_id"]
	}
	return nil
}

func (s *sower) sowLists(in seed) error {
	for i, item := range in.Lists {
		made, err := s.make("/lists", item.body(), "list_id")
		if err != nil {
			return fmt.Errorf("lists[%d]: %w", i, err)
		}
		s.lists[item.Name] = made["list_id"]
		path := fmt.Sprintf("/lists/%v", made["list_id"])
		if item.PolicyAccepted {
			if _, err := s.post(path+"/accept-policy", nil, platform.Fixed{}); err != nil {
				return fmt.Errorf("lists[%d]: policy_accepted: %w", i, err)
			}
		}
		if err := s.sowContacts(path, item.Contacts); err != nil {
			return fmt.Errorf("lists[%d]: %w", i, err)
		}
	}
	return nil
}

// sowContacts imports contacts in batches of the same status.
func (s *sower) sowContacts(path string, contacts []map[string]any) error {
	ids, err := fixedIDs(contacts)
	if err != nil {
		return err
	}
	for from := 0; from < len(contacts); {
		status := contacts[from]["status"]
		if text, ok := status.(string); status != nil && (!ok || !api.ImportTo(text).Valid()) {
			return fmt.Errorf("contacts[%d]: status: want active, unsubscribed or deleted", from)
		}
		to := from
		for to < len(contacts) && to-from < api.MaxImport && fmt.Sprint(contacts[to]["status"]) == fmt.Sprint(status) {
			delete(contacts[to], "status")
			to++
		}
		body := map[string]any{"contacts": contacts[from:to]}
		if status != nil {
			body["import_to"] = status
		}
		result, err := s.post(path+"/contacts/import", body, platform.Fixed{Contacts: ids(from, to)})
		if err != nil {
			return fmt.Errorf("contacts[%d]: %w", from, err)
		}
		if mistakes, _ := result["errors"].([]any); len(mistakes) > 0 {
			return entryMistake(mistakes[0], from)
		}
		from = to
	}
	return nil
}

// entryMistake says what is wrong with a contact, by the first error of an import
// of those from a place on.
func entryMistake(mistake any, from int) error {
	first, _ := mistake.(map[string]any)
	index, _ := strconv.Atoi(fmt.Sprint(first["index"]))
	at := fmt.Sprintf("contacts[%d]: ", from+index)
	if loc, _ := first["loc"].([]any); len(loc) > 3 { // behind body, contacts and the index
		at += fmt.Sprint(loc[3]) + ": "
	}
	return fmt.Errorf("%s%v", at, first["msg"])
}

func (s *sower) sowSuppressed(in seed) error {
	for i, email := range in.Suppressed {
		if _, err := s.post("/suppressed-emails", map[string]any{"email": email}, platform.Fixed{}); err != nil {
			return fmt.Errorf("suppressed_emails[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *sower) sowWorkflows(in seed) error {
	for i, item := range in.Workflows {
		active, isBool := item["active"].(bool)
		if !isBool && item["active"] != nil {
			return fmt.Errorf("workflows[%d]: active: want true or false", i)
		}
		delete(item, "active")
		made, err := s.makeNamed("/workflows", item, "workflow_id")
		if err == nil && active {
			_, err = s.post(fmt.Sprintf("/workflows/%v/activate", made["workflow_id"]), nil, platform.Fixed{})
		}
		if err != nil {
			return fmt.Errorf("workflows[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *sower) sowCampaigns(in seed) error {
	for i, item := range in.Campaigns {
		if _, err := s.makeNamed("/campaigns", item, "campaign_id"); err != nil {
			return fmt.Errorf("campaigns[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *sower) sowWebhooks(in seed) error {
	for i, item := range in.Webhooks {
		if _, err := s.make("/webhooks", item, "webhook_id"); err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
	}
	return nil
}

// makeNamed replaces names with ids.
func (s *sower) makeNamed(path string, item map[string]any, id string) (map[string]any, error) {
	if err := named(item, "list", s.lists); err != nil {
		return nil, err
	}
	if content, ok := item["content"].(map[string]any); ok {
		if err := named(content, "template", s.templates); err != nil {
			return nil, err
		}
	}
	return s.make(path, item, id)
}

// make makes what an item describes, with what the item fixes: its id, and of a
// webhook the secret and hash function.
func (s *sower) make(path string, item map[string]any, idName string) (map[string]any, error) {
	fixed, err := fixedOf(item, idName)
	if err != nil {
		return nil, err
	}
	return s.post(path, item, fixed)
}

func named(item map[string]any, what string, ids map[string]any) error {
	name, ok := item[what]
	if !ok {
		return nil
	}
	id := ids[fmt.Sprint(name)]
	if id == nil {
		return fmt.Errorf("%s: the object has none named %q", what, name)
	}
	delete(item, what)
	item[what+"_id"] = id
	return nil
}

// post sends a request to the API in process and returns the object in the
// response.
func (s *sower) post(path string, body any, fixed platform.Fixed) (map[string]any, error) {
	sent := []byte{}
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r := &http.Request{
		Method: http.MethodPost,
		URL:    &url.URL{Path: path},
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(sent)),
	}
	answer := inproc.NewRecording(http.Header{})
	s.API.ServeAs(answer, r.WithContext(platform.WithFixed(context.Background(), fixed)), s.caller)
	var object map[string]any
	decoder := json.NewDecoder(&answer.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if answer.Status >= 300 {
		return nil, fmt.Errorf("%s", mistakesOf(object))
	}
	return object, nil
}

// mistakesOf reads an error of the API.
func mistakesOf(object map[string]any) string {
	var out []string
	details, _ := object["detail"].([]any)
	for _, d := range details {
		if d, ok := d.(map[string]any); ok {
			out = append(out, fmt.Sprintf("%v: %v", d["loc"], d["msg"]))
		}
	}
	return strings.Join(out, "; ")
}

package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/inproc"
	"example.com/emailplatform/mockserver/internal/problem"
)

// seed is what one object of a seed file says.
type seed struct {
	AccountID  int64            `json:"account_id"`
	Templates  []map[string]any `json:"templates"`
	Lists      []seedList       `json:"lists"`
	Suppressed []string         `json:"suppressed_emails"`
	Campaigns  []map[string]any `json:"campaigns"`
	Workflows  []map[string]any `json:"workflows"`
	Webhooks   []map[string]any `json:"webhooks"`
}

type seedList struct {
	Name           string           `json:"name"`
	PolicyAccepted bool             `json:"policy_accepted"`
	Contacts       []map[string]any `json:"contacts"`
}

// Seed adds what a text describes, as the method of the same name of the mock's
// Server says.
func (w *World) Seed(r io.Reader) error {
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
	*World
	caller    gateway.Token
	lists     map[string]any // ids by name
	templates map[string]any
}

func (w *World) sow(in seed) error {
	if in.AccountID == 0 {
		in.AccountID = w.Tokens[0].AccountID
	}
	i := slices.IndexFunc(w.Tokens, func(t gateway.Token) bool { return t.AccountID == in.AccountID && !t.ReadOnly })
	if i < 0 {
		return fmt.Errorf("account_id: no token that may write is of account %d", in.AccountID)
	}
	s := &sower{w, w.Tokens[i], map[string]any{}, map[string]any{}}
	steps := []func(seed) error{s.sowTemplates, s.sowLists, s.sowSuppressed, s.sowWorkflows, s.sowCampaigns, s.sowWebhooks}
	for _, step := range steps {
		if err := step(in); err != nil {
			return err
		}
	}
	return nil
}

func (s *sower) sowTemplates(in seed) error {
	for i, item := range in.Templates {
		made, err := s.post("/templates", item)
		if err != nil {
			return fmt.Errorf("templates[%d]: %w", i, err)
		}
		s.templates[fmt.Sprint(item["name"])] = made["template_id"]
	}
	return nil
}

func (s *sower) sowLists(in seed) error {
	for i, item := range in.Lists {
		made, err := s.post("/lists", map[string]any{"name": item.Name})
		if err != nil {
			return fmt.Errorf("lists[%d]: %w", i, err)
		}
		s.lists[item.Name] = made["list_id"]
		path := fmt.Sprintf("/lists/%v", made["list_id"])
		if item.PolicyAccepted {
			if _, err := s.post(path+"/accept-policy", nil); err != nil {
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
	for from := 0; from < len(contacts); {
		status := contacts[from]["status"]
		to := from
		for to < len(contacts) && to-from < api.MaxImport && fmt.Sprint(contacts[to]["status"]) == fmt.Sprint(status) {
			delete(contacts[to], "status")
			to++
		}
		body := map[string]any{"contacts": contacts[from:to]}
		if status != nil {
			body["import_to"] = status
		}
		result, err := s.post(path+"/contacts/import", body)
		if err != nil {
			return fmt.Errorf("contacts[%d]: %w", from, err)
		}
		if mistakes, _ := result["errors"].([]any); len(mistakes) > 0 {
			first, _ := mistakes[0].(map[string]any)
			index, _ := strconv.Atoi(fmt.Sprint(first["index"]))
			return fmt.Errorf("contacts[%d]: %v", from+index, first["msg"])
		}
		from = to
	}
	return nil
}

func (s *sower) sowSuppressed(in seed) error {
	for i, email := range in.Suppressed {
		if _, err := s.post("/suppressed-emails", map[string]any{"email": email}); err != nil {
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
		made, err := s.postNamed("/workflows", item)
		if err == nil && active {
			_, err = s.post(fmt.Sprintf("/workflows/%v/activate", made["workflow_id"]), nil)
		}
		if err != nil {
			return fmt.Errorf("workflows[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *sower) sowCampaigns(in seed) error {
	for i, item := range in.Campaigns {
		if _, err := s.postNamed("/campaigns", item); err != nil {
			return fmt.Errorf("campaigns[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *sower) sowWebhooks(in seed) error {
	for i, item := range in.Webhooks {
		if _, err := s.post("/webhooks", item); err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
	}
	return nil
}

// postNamed puts ids in the place of names.
func (s *sower) postNamed(path string, item map[string]any) (map[string]any, error) {
	if err := named(item, "list", s.lists); err != nil {
		return nil, err
	}
	if content, ok := item["content"].(map[string]any); ok {
		if err := named(content, "template", s.templates); err != nil {
			return nil, err
		}
	}
	return s.post(path, item)
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

// post asks the API in process and returns the object that it answers.
func (s *sower) post(path string, body any) (map[string]any, error) {
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
	s.API.ServeStrictlyAs(answer, r, s.caller)
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

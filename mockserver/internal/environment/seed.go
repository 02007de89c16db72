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
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/inproc"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// Seed adds the records of a seed; see Server.Seed in package mockserver.
func (w *Environment) Seed(r io.Reader) error {
	decoder := json.NewDecoder(r)
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = w.sow(raw)
		}
		if err != nil {
			return fmt.Errorf("mockserver: seed: %w", err)
		}
	}
}

// sower adds the records of a seed as a user of the account.
type sower struct {
	*Environment
	caller    record.Token
	lists     map[string]int64 // ids by name
	templates map[string]int64
}

func (w *Environment) sow(raw []byte) error {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // it was decoded before
	if details := SeedSchema().Check(value, "body"); len(details) > 0 {
		return &problem.Error{Status: http.StatusUnprocessableEntity, Details: details}
	}
	var in seed
	if err := json.Unmarshal(raw, &in); err != nil {
		return problem.Plainly(err)
	}
	if in.AccountID == 0 {
		in.AccountID = w.Account
	}
	if err := w.sowTokens(in); err != nil {
		return err
	}
	caller, ok := w.Access.Of(in.AccountID, 0)
	if !ok {
		return fmt.Errorf("account_id: no token belongs to account %d", in.AccountID)
	}
	caller.ReadOnly = false // it is a test that fills the account, not a user
	s := &sower{w, caller, map[string]int64{}, map[string]int64{}}
	steps := []func(seed) error{s.sowTemplates, s.sowLists, s.sowSuppressed, s.sowWorkflows, s.sowCampaigns, s.sowWebhooks}
	for _, step := range steps {
		if err := step(in); err != nil {
			return err
		}
	}
	return nil
}

// sowTokens adds the tokens first, because the other records need a user of the
// account.
func (w *Environment) sowTokens(in seed) error {
	for i, t := range in.Tokens {
		err := w.Access.Add(auth.Complete([]record.Token{{
			Value:     t.Token,
			UserID:    t.UserID,
			UserEmail: t.UserEmail,
			AccountID: in.AccountID,
			ReadOnly:  t.ReadOnly,
			ExpiresIn: time.Duration(t.ExpiresInMS) * time.Millisecond,
		}}, "")[0])
		if err != nil {
			return fmt.Errorf("tokens[%d].%w", i, err)
		}
	}
	return nil
}

func (s *sower) sowTemplates(in seed) error {
	for i, item := range in.Templates {
		fixed := platform.Fixed{ID: item.ID}
		item.ID = 0
		made, err := s.post("/templates", item, fixed)
		if err != nil {
			return fmt.Errorf("templates[%d]%w", i, err)
		}
		s.templates[item.Name] = made.TemplateID
	}
	return nil
}

func (s *sower) sowLists(in seed) error {
	for i, item := range in.Lists {
		made, err := s.post("/lists", api.ListCreate{Name: item.Name}, platform.Fixed{ID: item.ID})
		if err != nil {
			return fmt.Errorf("lists[%d]%w", i, err)
		}
		s.lists[item.Name] = made.ListID
		path := fmt.Sprintf("/lists/%d", made.ListID)
		if item.PolicyAccepted {
			if _, err := s.post(path+"/accept-policy", nil, platform.Fixed{}); err != nil {
				return fmt.Errorf("lists[%d].policy_accepted%w", i, err)
			}
		}
		if err := s.sowContacts(path, item.Contacts); err != nil {
			return fmt.Errorf("lists[%d].%w", i, err)
		}
	}
	return nil
}

// sowContacts imports contacts in batches of the same status.
func (s *sower) sowContacts(path string, contacts []seedContact) error {
	ids, err := fixedIDs(contacts)
	if err != nil {
		return err
	}
	for from := 0; from < len(contacts); {
		status, to := contacts[from].Status, from
		for to < len(contacts) && to-from < api.MaxImport && contacts[to].Status == status {
			contacts[to].ID, contacts[to].Status = 0, ""
			to++
		}
		body := map[string]any{"contacts": contacts[from:to]}
		if status != "" {
			body["import_to"] = status
		}
		result, err := s.post(path+"/contacts/import", body, platform.Fixed{Contacts: ids(from, to)})
		if err != nil {
			return fmt.Errorf("contacts[%d]%w", from, err)
		}
		if len(result.Errors) > 0 {
			first := result.Errors[0]
			return fmt.Errorf("contacts[%d].email: %s", from+int(first.Index), first.Msg) // the schema allows no other
		}
		from = to
	}
	return nil
}

func (s *sower) sowSuppressed(in seed) error {
	for i, email := range in.Suppressed {
		if _, err := s.post("/suppressed-emails", api.SuppressedEmailCreate{Email: email}, platform.Fixed{}); err != nil {
			return fmt.Errorf("suppressed_emails[%d]%w", i, err)
		}
	}
	return nil
}

func (s *sower) sowWorkflows(in seed) error {
	for i, item := range in.Workflows {
		fixed, active := platform.Fixed{ID: item.ID}, item.Active
		item.ID, item.Active = 0, false
		err := errors.Join(named(&item.ListID, &item.List, "list", s.lists),
			named(&item.Content.TemplateID, &item.Content.Template, "content.template", s.templates))
		var made created
		if err == nil {
			made, err = s.post("/workflows", item, fixed)
		}
		if err == nil && active {
			_, err = s.post(fmt.Sprintf("/workflows/%d/activate", made.WorkflowID), nil, platform.Fixed{})
		}
		if err != nil {
			return fmt.Errorf("workflows[%d]%w", i, err)
		}
	}
	return nil
}

func (s *sower) sowCampaigns(in seed) error {
	for i, item := range in.Campaigns {
		fixed := platform.Fixed{ID: item.ID}
		item.ID = 0
		err := named(&item.ListID, &item.List, "list", s.lists)
		if c := item.Content; err == nil && c != nil {
			err = named(&c.TemplateID, &c.Template, "content.template", s.templates)
		}
		if err == nil {
			_, err = s.post("/campaigns", item, fixed)
		}
		if err != nil {
			return fmt.Errorf("campaigns[%d]%w", i, err)
		}
	}
	return nil
}

func (s *sower) sowWebhooks(in seed) error {
	for i, item := range in.Webhooks {
		id, _ := strconv.ParseInt(item.ID, 10, 64) // no id is 0
		fixed := platform.Fixed{ID: id, Secret: item.Secret, Hash: item.Hash}
		item.ID, item.Secret, item.Hash = "", "", ""
		if _, err := s.post("/webhooks", item, fixed); err != nil {
			return fmt.Errorf("webhooks[%d]%w", i, err)
		}
	}
	return nil
}

// named replaces a name with the id that it has in the object.
func named(id *int64, name **string, what string, ids map[string]int64) error {
	if *name == nil {
		return nil
	}
	found := ids[**name]
	switch {
	case *id != 0:
		return fmt.Errorf(".%s: must contain either the name or the id", what)
	case found == 0:
		return fmt.Errorf(".%s: the object contains no entry named %q", what, **name)
	}
	*id, *name = found, nil
	return nil
}

// created has the fields of API responses that seeds need.
type created struct {
	TemplateID int64               `json:"template_id"`
	ListID     int64               `json:"list_id"`
	WorkflowID int64               `json:"workflow_id"`
	Errors     []api.ImportError   `json:"errors"`
	Detail     []api.ProblemDetail `json:"detail"`
}

// post sends a request to the API in process and returns the response. An error begins
// with the place in the body.
func (s *sower) post(path string, body any, fixed platform.Fixed) (out created, err error) {
	sent := []byte{}
	if body != nil {
		if sent, err = json.Marshal(body); err != nil {
			return out, err
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
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil && answer.Body.Len() > 0 {
		return out, err
	}
	if answer.Status >= 300 {
		d := out.Detail[0]
		place := problem.Path(d.Loc)
		if place != "" {
			place = "." + place
		}
		return out, fmt.Errorf("%s: %s", place, d.Msg)
	}
	return out, nil
}

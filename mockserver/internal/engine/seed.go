package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/model"
)

// Seed adds the records in a seed. See Server.Seed in package mockserver.
func (e *Engine) Seed(r io.Reader) error {
	decoder := json.NewDecoder(contract.WithoutMark(r))
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = e.seedOne(raw)
		}
		if err != nil {
			return err
		}
	}
}

// seeder adds the records of a seed as a user of the account.
type seeder struct {
	*Engine
	caller    platform.Caller
	lists     map[string]int64 // ids by name
	templates map[string]int64
	err       error // the first error
}

func (e *Engine) seedOne(raw []byte) error {
	if err := contract.CheckText(raw, false); err != nil {
		return err
	}
	if details := SeedSchema().RequestErrors(raw); len(details) > 0 {
		return &apierror.Error{Status: http.StatusUnprocessableEntity, Details: details}
	}
	var in seed
	if err := json.Unmarshal(raw, &in); err != nil {
		return apierror.Plainly(err)
	}
	if in.AccountID == 0 {
		in.AccountID = e.Account
	}
	s := &seeder{Engine: e, caller: platform.Caller{AccountID: in.AccountID}, lists: map[string]int64{}, templates: map[string]int64{}}
	each(s, "tokens", in.Tokens, s.addToken) // first, because a user of the account creates the other records
	if s.err != nil {
		return s.err
	}
	user, ok := e.Auth.OfUser(in.AccountID, 0)
	if !ok {
		return apierror.Invalid(fmt.Sprintf("no token belongs to account %d", in.AccountID), "body", "account_id")
	}
	s.caller.UserID, s.caller.UserEmail = user.UserID, user.UserEmail
	each(s, "templates", in.Templates, s.addTemplate)
	each(s, "lists", in.Lists, s.addList)
	each(s, "suppressed_emails", in.Suppressed, s.addSuppressed)
	each(s, "workflows", in.Workflows, s.addWorkflow)
	each(s, "campaigns", in.Campaigns, s.addCampaign)
	each(s, "webhooks", in.Webhooks, s.addWebhook)
	return s.err
}

// each calls add for each item until add returns an error, and keeps this error with the
// position of the item.
func each[T any](s *seeder, kind string, items []T, add func(T) error) {
	for i, item := range items {
		if s.err != nil {
			return
		}
		s.err = at(add(item), kind, i)
	}
}

func (s *seeder) addToken(in seedToken) error {
	return s.Auth.Add(auth.Complete([]model.Token{{
		Value:     in.Token,
		UserID:    in.UserID,
		UserEmail: in.UserEmail,
		AccountID: s.caller.AccountID,
		ReadOnly:  in.ReadOnly,
		ExpiresIn: time.Duration(in.ExpiresInMS) * time.Millisecond,
	}}, "")[0])
}

func (s *seeder) addTemplate(in seedTemplate) error {
	fixed := platform.Fixed{ID: in.ID}
	in.ID = 0
	made, err := submit(s, "POST /templates", in, fixed, s.Platform.CreateTemplate)
	if err == nil {
		s.templates[in.Name] = made.(api.CreateTemplate201JSONResponse).TemplateID
	}
	return err
}

func (s *seeder) addList(in seedList) error {
	made, err := submit(s, "POST /lists", api.ListCreate{Name: in.Name}, platform.Fixed{ID: in.ID}, s.Platform.CreateList)
	if err != nil {
		return err
	}
	id := made.(api.CreateList201JSONResponse).ListID
	s.lists[in.Name] = id
	if in.PolicyAccepted {
		_, err := s.Platform.AcceptListPolicy(s.context(platform.Fixed{}, nil), api.AcceptListPolicyRequestObject{ListID: id})
		if err != nil {
			return at(err, "policy_accepted")
		}
	}
	return s.addContacts(id, in.Contacts)
}

// addContacts imports contacts in batches. All contacts in a batch have the same status,
// because an import has only one.
func (s *seeder) addContacts(list int64, contacts []seedContact) error {
	if err := checkIDs(contacts); err != nil {
		return err
	}
	for from := 0; from < len(contacts); {
		status, to, ids := contacts[from].Status, from, map[string]int64{}
		for to < len(contacts) && to-from < api.MaxImport && contacts[to].Status == status {
			if contacts[to].ID != 0 {
				ids[strings.ToLower(contacts[to].Email)] = contacts[to].ID
			}
			contacts[to].ID, contacts[to].Status = 0, ""
			to++
		}
		body := map[string]any{"contacts": contacts[from:to]}
		if status != "" {
			body["import_to"] = status
		}
		result, err := s.importContacts(list, body, ids)
		if err != nil {
			return at(err, "contacts") // the error names the id
		}
		if len(result.Errors) > 0 {
			first := result.Errors[0]
			return apierror.Invalid(first.Msg, "body", "contacts", from+int(first.Index), "email") // the schema excludes other errors
		}
		from = to
	}
	return nil
}

func (s *seeder) importContacts(list int64, body any, ids map[string]int64) (api.ImportContacts200JSONResponse, error) {
	made, err := submit(s, "POST /lists/{list_id}/contacts/import", body, platform.Fixed{Contacts: ids},
		func(ctx context.Context, in struct{ Body *api.ContactImport }) (api.ImportContactsResponseObject, error) {
			return s.Platform.ImportContacts(ctx, api.ImportContactsRequestObject{ListID: list, Body: in.Body})
		})
	result, _ := made.(api.ImportContacts200JSONResponse)
	return result, err
}

func (s *seeder) addSuppressed(email string) error {
	_, err := submit(s, "POST /suppressed-emails", api.SuppressedEmailCreate{Email: email}, platform.Fixed{}, s.Platform.AddSuppressedEmail)
	if invalid, ok := errors.AsType[*apierror.Error](err); ok {
		return apierror.Invalid(invalid.Details[0].Msg, "body") // without the field of the request body
	}
	return err
}

func (s *seeder) addWorkflow(in seedWorkflow) error {
	fixed, active := platform.Fixed{ID: in.ID}, in.Active
	in.ID, in.Active = 0, false
	err := apierror.Join(resolveName(&in.ListID, &in.List, s.lists, "list"),
		resolveName(&in.Content.TemplateID, &in.Content.Template, s.templates, "content", "template"))
	if err != nil {
		return err
	}
	made, err := submit(s, "POST /workflows", in, fixed, s.Platform.CreateWorkflow)
	if err == nil && active {
		id := made.(api.CreateWorkflow201JSONResponse).WorkflowID
		_, err = s.Platform.ActivateWorkflow(s.context(platform.Fixed{}, nil), api.ActivateWorkflowRequestObject{WorkflowID: id})
		err = at(err, "active")
	}
	return err
}

func (s *seeder) addCampaign(in seedCampaign) error {
	fixed := platform.Fixed{ID: in.ID}
	in.ID = 0
	err := resolveName(&in.ListID, &in.List, s.lists, "list")
	if c := in.Content; c != nil {
		err = apierror.Join(err, resolveName(&c.TemplateID, &c.Template, s.templates, "content", "template"))
	}
	if err != nil {
		return err
	}
	_, err = submit(s, "POST /campaigns", in, fixed, s.Platform.CreateCampaign)
	return err
}

func (s *seeder) addWebhook(in seedWebhook) error {
	id, _ := strconv.ParseInt(in.ID, 10, 64) // no record has the id 0
	fixed := platform.Fixed{ID: id, Secret: in.Secret, Hash: in.Hash}
	in.ID, in.Secret, in.Hash = "", "", ""
	_, err := submit(s, "POST /webhooks", in, fixed, s.Platform.CreateWebhook)
	return err
}

// resolveName replaces the name of a record with the record's id. The record must be in the
// same seed object. An error has the location of the name.
func resolveName(id *int64, name **string, ids map[string]int64, location ...any) error {
	if *name == nil {
		return nil
	}
	found := ids[**name]
	switch {
	case *id != 0:
		return at(apierror.Invalid("must contain either the name or the id"), location...)
	case found == 0:
		return at(apierror.Invalid(fmt.Sprintf("the object contains no entry named %q", **name)), location...)
	}
	*id, *name = found, nil
	return nil
}

// submit validates the body of an operation as the gateway does, and then calls the
// operation.
func submit[Body, Out any, In ~struct{ Body *Body }](
	s *seeder, pattern string, body any, fixed platform.Fixed, operate func(context.Context, In) (Out, error),
) (out Out, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return out, err
	}
	found, err := contract.Operations()[pattern].ValidateRequest(nil, raw, true)
	in := new(Body)
	if err == nil {
		err = json.Unmarshal(raw, in)
	}
	if err == nil {
		out, err = operate(s.context(fixed, found.BadEntries), In{in})
	}
	return out, err
}

// context returns the context of an operation.
func (s *seeder) context(fixed platform.Fixed, badEntries map[int]api.ProblemDetail) context.Context {
	caller := s.caller
	caller.Fixed, caller.BadEntries = &fixed, badEntries
	return platform.WithCaller(context.Background(), &caller)
}

// at puts the position of a record or field before the locations of an error. A location outside
// the body of a request, such as an id in a path, has no meaning in a seed.
func at(err error, position ...any) error {
	invalid, ok := errors.AsType[*apierror.Error](err)
	if !ok {
		return err
	}
	moved := &apierror.Error{Status: http.StatusUnprocessableEntity}
	for _, d := range invalid.Details {
		var field []any
		if len(d.Loc) > 0 && d.Loc[0] == "body" {
			field = d.Loc[1:]
		}
		moved.Details = append(moved.Details, apierror.At(d.Type, d.Msg, slices.Concat([]any{"body"}, position, field)...))
	}
	return moved
}

// checkIDs returns an error unless the ids of the contacts are in ascending order or all
// ids are omitted.
func checkIDs(contacts []seedContact) error {
	seen := map[string]bool{}
	for i, c := range contacts {
		var err error
		address, before := strings.ToLower(c.Email), contacts[max(0, i-1)].ID
		switch {
		case (c.ID == 0) != (before == 0):
			err = apierror.Invalid("must be set for all contacts on the list or for none", "body", "id")
		case i > 0 && c.ID != 0 && c.ID <= before:
			err = apierror.Invalid(fmt.Sprintf("must be greater than %d, the id of the previous contact", before), "body", "id")
		case c.ID != 0 && seen[address]:
			err = apierror.Invalid("the list already contains the address with another id", "body", "email")
		}
		if err != nil {
			return at(err, "contacts", i)
		}
		if c.ID != 0 {
			seen[address] = true
		}
	}
	return nil
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver"
)

func mockContests() []contest {
	contests := []contest{{name: "mock: construct and close", items: 1, unit: "servers", local: true, setup: func(*arena) ([]contender, error) {
		return []contender{{name: "this SDK's platform", op: func() error {
			mockserver.New(mockserver.Config{}).Close()
			return nil
		}}}, nil
	}}}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		contests = append(contests, contest{
			name: "mock: " + method + " without validation", items: 1, unit: "requests",
			setup: func(a *arena) ([]contender, error) { return freeMocks(a, method) },
		}, contest{
			name: "mock: " + method + " with validation, as a command", items: 1, unit: "requests",
			setup: func(a *arena) ([]contender, error) { return mockCommands(a, method) },
		})
	}
	return contests
}

const listJSON = `{"list_id":1,"name":"Customers","policy_accepted":false,"created_on":1760000000}` + "\n"

// freeMocks compares the platform, which does not validate here, with a handler
// that answers the same bytes without looking.
func freeMocks(a *arena, method string) ([]contender, error) {
	platform := mockserver.Start(mockserver.Config{SkipValidation: true})
	a.cleanup = append(a.cleanup, platform.Close)
	constant := a.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, listJSON)
	}))
	ours, err := listCaller(a, method, platform.URL())
	if err != nil {
		return nil, err
	}
	theirs, err := listCaller(a, method, constant.URL)
	return []contender{
		{name: "this SDK's platform", op: ours},
		{name: "a handler that answers a constant", op: theirs, want: 0.6},
	}, err
}

// mockCommands compares the commands, each in a process of its own.
func mockCommands(a *arena, method string) ([]contender, error) {
	ours, err := startCommand(a, ourCommand())
	if err != nil {
		return nil, err
	}
	theirs, err := startCommand(a, stripeCommand())
	if err != nil {
		return nil, err
	}
	platform, err := listCaller(a, method, ours.url)
	if err != nil {
		return nil, err
	}
	path, body := "/v1/customers/cus_123", ""
	if method == http.MethodPost {
		path, body = "/v1/customers", "name=Customers"
	}
	return []contender{
		{name: "this SDK's platform", op: platform},
		{name: "stripe-mock", want: 2, op: func() error {
			return request(a, method, theirs.url+path, stripeToken, "application/x-www-form-urlencoded", body)
		}},
	}, nil
}

// listCaller makes a list, and returns what reads it or makes another one.
func listCaller(a *arena, method, url string) (op func() error, err error) {
	const body = `{"name":"Customers"}`
	if method == http.MethodPost {
		return func() error {
			return request(a, method, url+"/lists", mockserver.DefaultToken, "application/json", body)
		}, nil
	}
	id, err := createList(a, url, body)
	return func() error {
		return request(a, method, fmt.Sprintf("%s/lists/%d", url, id), mockserver.DefaultToken, "", "")
	}, err
}

func createList(a *arena, url, body string) (id int64, err error) {
	req, err := newRequest(a, http.MethodPost, url+"/lists", mockserver.DefaultToken, "application/json", body)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		ListID int64 `json:"list_id"`
	}
	err = json.NewDecoder(resp.Body).Decode(&list)
	return list.ListID, err
}

func newRequest(a *arena, method, url, token, contentType, body string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(a.ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

func request(a *arena, method, url, token, contentType, body string) error {
	req, err := newRequest(a, method, url, token, contentType, body)
	if err != nil {
		return err
	}
	return call(http.DefaultClient, req)
}

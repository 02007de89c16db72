package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"example.com/emailplatform/mockserver"
)

func mockContests() []contest {
	contests := []contest{
		{name: "mock: construct and close", items: 1, unit: "servers", local: true, setup: func(*arena) ([]contender, error) {
			return []contender{{name: "this SDK's platform", most: 60 * time.Microsecond, op: func() error {
				mockserver.New(mockserver.Config{}).Close()
				return nil
			}}}, nil
		}},
		{name: "mock: import of 1000 with validation", items: perBatch, unit: "contacts", local: true, setup: mockImport},
	}
	for _, c := range []struct {
		method string
		want   float64 // of the processor time
	}{{http.MethodGet, 4}, {http.MethodPost, 3.3}} {
		method := c.method
		contests = append(contests, contest{
			name: "mock: " + method + " without validation", items: 1, unit: "requests",
			setup: func(a *arena) ([]contender, error) { return freeMocks(a, method) },
		}, contest{
			name: "mock: " + method + " with validation, as a command, eight connections", items: perProcess, unit: "requests",
			setup: func(a *arena) ([]contender, error) { return mockCommands(a, method, 2, false) },
		})
		if canTellProcessorTime {
			contests = append(contests, contest{
				name:  "mock: " + method + " with validation, as a command, its processor time",
				items: perProcess, unit: "requests",
				setup: func(a *arena) ([]contender, error) { return mockCommands(a, method, c.want, true) },
			})
		}
	}
	return contests
}

// mockImport imports contacts into the platform without sockets: half of the time
// that it took before requests were accepted from their bytes is the target.
func mockImport(a *arena) ([]contender, error) {
	platform := mockserver.New(mockserver.Config{})
	a.cleanup = append(a.cleanup, platform.Close)
	call := func(path string, body any) (*httptest.ResponseRecorder, error) {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r := httptest.NewRequestWithContext(a.ctx, http.MethodPost, path, bytes.NewReader(data))
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer "+mockserver.DefaultToken)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if platform.ServeHTTP(w, r); w.Code/100 != 2 {
			return nil, fmt.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		return w, nil
	}
	if _, err := call("/lists", map[string]string{"name": "Customers"}); err != nil {
		return nil, err
	}
	contacts := batch(0)
	return []contender{{name: "this SDK's platform", most: 6900 * time.Microsecond, op: func() error {
		_, err := call("/lists/1/contacts/import", contacts)
		return err
	}}}, nil
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

// mockCommands compares the commands, each in a process of its own: by the time
// that eight connections wait, or by the processor time that the command takes,
// with what its garbage costs.
func mockCommands(a *arena, method string, want float64, processor bool) ([]contender, error) {
	ours, err := ourCommand().renewed(a)
	if err != nil {
		return nil, err
	}
	theirs, err := stripeCommand().renewed(a)
	if err != nil {
		return nil, err
	}
	path, body := "/v1/customers/cus_123", ""
	if method == http.MethodPost {
		path, body = "/v1/customers", "name=Customers"
	}
	both := []contender{
		a.commandContender(ours, func() (func() error, error) { return listCaller(a, method, ours.url) }),
		a.commandContender(theirs, func() (func() error, error) {
			return func() error {
				return request(a, method, theirs.url+path, stripeToken, "application/x-www-form-urlencoded", body)
			}, nil
		}),
	}
	both[1].want = want
	if processor {
		both[0].spent, both[1].spent = ours.spent, theirs.spent
	}
	return both, nil
}

// commandContender makes requests to a new process in each turn, which has
// answered as many before.
func (a *arena) commandContender(r *renewed, caller func() (func() error, error)) contender {
	var request func() error
	op := func() error {
		return parallel(a.ctx, connections, perProcess, func() func(int) error {
			return func(int) error { return request() }
		})
	}
	return contender{name: r.name, op: op, begin: func() (err error) {
		if err = r.begin(a); err != nil {
			return err
		}
		if request, err = caller(); err != nil {
			return err
		}
		return op()
	}}
}

// perProcess is how many requests a command answers in a turn, so many that its
// garbage is collected several times.
const perProcess = 2000

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
	resp, err := a.client.Do(req)
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
	return call(a.client, req)
}

package main

import (
	"errors"

	"example.com/emailplatform/mockserver"
)

// platform is the server of the quickstart: one from the environment, or the
// mock server, which can simulate recipient actions.
type platform struct {
	baseURL string
	token   string
	mock    *mockserver.Server // nil for a server elsewhere
}

func choosePlatform(getenv func(string) string) (*platform, error) {
	p := &platform{baseURL: getenv("EMAILPLATFORM_BASE_URL"), token: getenv("EMAILPLATFORM_TOKEN")}
	switch {
	case p.baseURL != "" && p.token == "":
		return nil, errors.New("EMAILPLATFORM_BASE_URL is set, and EMAILPLATFORM_TOKEN is not")
	case p.baseURL == "" && p.token != "":
		return nil, errors.New("EMAILPLATFORM_TOKEN is set, and EMAILPLATFORM_BASE_URL is not")
	case p.baseURL == "":
		p.mock = mockserver.Start(mockserver.Config{})
		p.baseURL, p.token = p.mock.URL(), p.mock.Token()
	}
	return p, nil
}

func (p *platform) close() {
	if p.mock != nil {
		p.mock.Close()
	}
}

func (p *platform) String() string {
	if p.mock != nil {
		return p.baseURL + " (embedded, in memory)"
	}
	return p.baseURL
}

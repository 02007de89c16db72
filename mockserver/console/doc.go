// Package console is the web console of the mock server. It shows messages,
// events, deliveries, requests, pending work and the results of campaigns and
// workflows. It simulates bounces, spam reports and unsubscribes, adds faults
// and sends your own events. It creates and edits lists, contacts, templates,
// campaigns, workflows and webhooks through the API, imports contacts from CSV, and
// sends requests that you edit to any operation of the API.
//
// Command mockserver serves it at /_mock/. In your own program, set the field
// Console of the server's configuration:
//
//	srv := mockserver.Start(mockserver.Config{Console: console.Handler()})
//
// # Implementation
//
// The console consists of static files, embedded in the binary: one page, one
// style sheet and ES modules in plain JavaScript. There is no build step. The
// only library is Preact, a single file in static/vendor with its license. The
// description of the API in static/operations.json is generated. All other data
// comes from the control routes under /_mock/ (docs/control-api.md). A stream of
// server-sent events keeps the page up to date.
//
// # Hostile content
//
// Subjects, names, addresses, responses and errors are shown as text: the
// page's Content-Security-Policy blocks any assignment of markup, inline
// scripts and styles, and content from other origins. The HTML of a mail is
// shown in a frame without scripts and with an origin of its own, from a route
// whose policy loads nothing from other servers by default.
//
// # Access
//
// The control routes control access, including the access to the page and its
// files. On loopback addresses, clients need a loopback name. On other
// addresses, they need an access token; a link /_mock/?token=… stores it in a
// cookie.
package console

// Package console is the web console of the mock server. It shows messages, events,
// deliveries, requests, pending work, and the results of campaigns and workflows. With
// its buttons you can simulate recipient actions, add fault rules, send events, create
// and edit resources, import contacts from CSV, and send edited requests to the API.
//
// Command mockserver serves it at /_mock/. In your own program, set
// Config.Console:
//
//	srv := mockserver.Start(mockserver.Config{Console: console.Handler()})
//
// # Implementation
//
// The folder src contains the source: ES modules in plain JavaScript, and Preact as the
// only library. The command go generate bundles them into static/console.gen.js, because
// a browser loads one file much faster than 40. After a change to src, run
//
//	go generate ./mockserver/console
//
// and restart the mock server, because the binary embeds the files in static. Commit the
// generated file. It is not minified, so stack traces and diffs stay readable.
//
// All data comes from the control routes (docs/control-api.md), and a stream of
// server-sent events keeps the page up to date.
//
// # Hostile content
//
// The console must not trust emails and other data, so it shows subjects, names,
// addresses, responses and errors only as text. Its Content-Security-Policy blocks inline
// scripts and styles, content from other origins, and scripts that assign a string as HTML
// (Trusted Types). The HTML of an email is in a frame without scripts, which has its own
// origin and by default loads nothing from other servers.
//
// # Access
//
// The page and its files have the same access control as the control routes
// (docs/control-api.md). If the server requires an access token, open /_mock/?token=….
package console

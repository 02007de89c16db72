// Package console is the web console of the mock platform: one page that shows
// what there is and what waits, the mails that were sent, the events that fired,
// how their deliveries went and which requests came, and what came of campaigns
// and workflows. It makes the next thing happen: bounces, spam reports,
// unsubscribes, faults and events of one's own; and it creates lists, contacts,
// templates, campaigns, workflows and webhooks, by the API as anybody would.
//
// The command mockserver serves it at /_mock/. A program of one's own does the
// same with the field Console of the server's configuration:
//
//	srv := mockserver.Start(mockserver.Config{Console: console.Handler()})
//
// # What it is made of
//
// Static files, embedded in the binary: one page, one style sheet and ES modules
// in plain JavaScript, as they were written. There is no build step. The one
// library is Preact, a single file in static/vendor with its licence beside it.
// Whatever the page shows it gets from the control routes under /_mock/, which
// are documented in docs/control-api.md and work as well with curl; one stream of
// server-sent events keeps it up to date.
//
// # Hostile content
//
// Subjects, names, addresses, answers and errors are shown as text: the page's
// Content-Security-Policy refuses any assignment of markup, inline scripts and
// styles, and everything from elsewhere. The HTML of a mail is shown in a frame
// without scripts and with an origin of its own, from a route whose policy loads
// nothing from other servers unless that is asked for.
//
// # Who may use it
//
// The control routes decide that, for the page and its files as well: on
// loopback whoever calls the server by a loopback name, elsewhere whoever has an
// access token, which a link /_mock/?token=… turns into a cookie.
package console

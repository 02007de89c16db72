// Package mcp puts the email platform in front of AI assistants, as a server of
// the Model Context Protocol. "The specification" in this documentation is the
// platform's interface document.
//
//	server := mcp.NewServer(c, mcp.Options{})           // for one account, such as over stdio
//	handler, err := mcp.Handler(cfg, mcp.Options{})     // over HTTP, each caller with a token of its own
//
// The command emailplatform-mcp is both, ready to run.
//
// # Tools
//
// There are the two tools that the specification names ("What the service does"):
//
//	Tool      Operation  Required         Optional
//	contacts  list       list_id          page, per_page, sort, filter
//	contacts  create     list_id, email   custom_attributes
//	tags      list                        page, per_page
//
// Every call names its operation, which may be left out where there is but one. A
// list is answered a page at a time, of 50 items unless per_page says otherwise and
// never of more than 100, with the number of items on all pages and the number of
// the next page. Answers are structured content that follows the tool's output
// schema, and a text that holds all of it, a line for each item, for assistants
// that read text alone. Values of attributes of more than 300 characters are cut
// there.
//
// # Errors
//
// What an assistant can do something about is a tool error, never an error of
// the protocol: its text says which arguments to correct and how, or when to
// try again, or that the account's owner has to act. All mistakes in the
// arguments are reported at once, and nothing is sent then. Mistakes that the
// platform finds are passed on in its own words. If a creation may or may not
// have been carried out, the error says so and how to find out.
//
// # Tokens
//
// A server from [NewServer] uses the token of its client. Behind [Handler] each
// request carries a token of its own, in the header Authorization, with which
// alone the platform is asked: callers see their own account and no other. A
// request without one is answered 401, and so is a call whose token the platform
// does not accept, with the challenge of the protocol's chapter on authorization.
// No answer and no log record holds a token.
//
// # HTTP
//
// [Handler] speaks streamable HTTP without sessions, so that any number of
// processes can serve the same callers. A page in a browser cannot reach it:
// requests from other origins are refused, and so are host names other than
// loopback ones and those in [Options.AllowedHosts].
//
// # Concurrency
//
// Servers and handlers are safe for concurrent use by any number of sessions
// and calls. A call is bounded by its caller's context and by 45 seconds,
// because assistants commonly give up after a minute.
package mcp

// Package mcp provides tools for AI assistants as a server of the Model Context
// Protocol. "Specification" in this documentation is the file
// docs/specification.md of the repository.
//
//	server := mcp.NewServer(c, mcp.Options{})           // for one account, for example over stdio
//	handler, err := mcp.NewHandler(cfg, mcp.Options{})     // over HTTP, each caller with its own token
//
// Command emailplatform-mcp is a ready-made program for both.
//
// # Tools
//
// There are two tools (specification, "What the service does"):
//
//	Tool      Operation  Required         Optional
//	contacts  list       list_id          page, per_page, sort, filter
//	contacts  create     list_id, email   custom_attributes
//	tags      list                        page, per_page
//
// A call can omit the operation if the tool has only one. A list returns one
// page, with 50 items by default and at most 100, the total number of items and
// the number of the next page. Results are structured content according to the
// tool's output schema. They are also text, with one line per item, for
// assistants that read only text; it truncates attribute values to 300
// characters.
//
// # Errors
//
// Errors that an assistant can act on are tool errors, never protocol errors. The
// text says which arguments to correct, when to retry, or that the account's owner
// must act. All invalid arguments are reported together, and nothing is sent.
// Error messages of the platform are passed on unchanged. If the outcome of a
// create operation is unknown, the error says so and describes how to check the
// outcome.
//
// # Tokens
//
// A server from [NewServer] uses the token of its client. With [NewHandler], each
// request contains its own token in the Authorization header. The handler uses
// only this token, so callers see only their own account. A request without a
// token, and a call whose token the platform rejects, get 401 with the
// challenge of the protocol's authorization chapter. Results and log records
// never contain a token.
//
// # HTTP
//
// [NewHandler] serves streamable HTTP without sessions, so any number of processes
// can serve the same callers. It rejects requests from other origins, which
// protects against web pages, and requests for host names except loopback names
// and [Options.AllowedHosts].
//
// # Concurrency
//
// Servers and handlers are safe for concurrent use. Each call has a timeout of 45
// seconds, because assistants commonly time out after a minute. It also ends when
// its caller's context ends.
package mcp

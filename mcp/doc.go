// Package mcp implements a Model Context Protocol (MCP) server with tools for
// AI assistants. In this documentation, "Specification" refers to the file
// docs/specification.md in the repository.
//
//	server := mcp.NewServer(c, mcp.Options{})           // for one account, for example over stdio
//	handler, err := mcp.NewHandler(cfg, mcp.Options{})     // over HTTP, each caller with its own token
//
// Command emailplatform-mcp runs the server over stdio or HTTP.
//
// # Tools
//
// The file README.md lists the tools, their operations and parameters. The tools follow
// the section "What the service does" of the specification. The argument "operation"
// selects the operation, and can be omitted if the tool has only one. The list operation
// returns one page, with the total number of items and the number of the next page. A
// page has 50 items by default and at most 100.
//
// Results contain structured content that matches the tool's output schema. For
// assistants that read only text, results also contain text with one line per item, and
// at most 300 characters of each attribute value.
//
// # Errors
//
// Errors that an assistant can act on are tool errors, not protocol errors. A tool error
// describes the next step: correct the arguments, retry later, or contact the account's
// owner. If the outcome of a create operation is unknown, the error describes how to find
// it. Tool errors also contain the platform's error messages, each truncated to 300
// characters.
//
// If arguments are invalid, the server sends no request to the platform, and a single
// error lists all problems.
//
// # Tokens
//
// A server from [NewServer] serves one account, because it uses the token of its
// [client.Client]. A handler from [NewHandler] serves many accounts, because each request
// contains its own token in the Authorization header. The handler uses only this token, so
// callers can access only their own account. If the token is missing or the platform rejects
// it, the response is 401 with the WWW-Authenticate header that the protocol requires. Results
// and log records never contain a token.
//
// # HTTP
//
// [NewHandler] serves streamable HTTP without sessions, so any number of processes
// can serve the same callers. The handler rejects requests from web pages with
// another origin, and requests whose host is neither a loopback name nor in
// [Options.AllowedHosts].
//
// # Concurrency
//
// Servers and handlers are safe for concurrent use. Many assistants time out after a minute, so
// each call has a timeout of 45 seconds. If the caller's context is canceled, the call ends
// earlier.
package mcp

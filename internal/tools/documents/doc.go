// Package documents tests all documents: every *.md file except the specification, and
// the code in package documentation. Everything that a document names must exist or work:
//
//   - Go code must compile, or be the code of a tested file.
//   - Commands, packages and flags must exist.
//   - JSON must be valid.
//   - Links and anchors must have a target.
//
// A list contains the exceptions with their reasons.
//
// A code block after a comment such as
//
//	<!-- from examples/newsletter/newsletter.go: signUp, export -->
//
// is copied from that file:
//
//	go test ./internal/tools/documents -update
//
// updates it. If the comment contains no names, the block is the whole file. Documents in other modules are
// tested only with -nested, because they need the dependencies of these modules.
package documents

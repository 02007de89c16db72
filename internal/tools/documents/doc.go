// Package documents holds all documents to what is in the repository, by tests
// alone: Go code compiles, or is the code of a tested file; commands, packages
// and flags exist; JSON is JSON; links and anchors lead somewhere. What no test
// can judge stands on a list, with a reason. The documents are all files *.md,
// but the specification, and the code in the documentation of packages.
//
// A sentence that promises something names its tests in testdata/promises.txt, and each
// number of SECURITY.md is compared with the code.
//
// A block behind a comment such as
//
//	<!-- from examples/newsletter/newsletter.go: signUp, export -->
//
// is cut from there:
//
//	go test ./internal/tools/documents -update
//
// brings it up to date. Documents of other modules need what those depend on,
// and are looked at with -nested.
package documents

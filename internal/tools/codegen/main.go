// Command codegen generates code and documents from openapi.yaml. go generate ./...
// runs it. It writes:
//
//   - client: models, functions that create requests, methods that only send a request,
//     and functions that encode and decode JSON
//   - events: models of payloads, with functions that encode and decode JSON; the names,
//     types and methods of events; and testdata from the examples in openapi.yaml
//   - mockserver/internal: models, routes and the list of events (api), the table
//     for validation (contract), the transaction of each operation
//     (platform), and examples of events (samples)
//   - docs/reference.md: every endpoint and every event
//   - mockserver/console/static/operations.json: every endpoint
//
// codegen reads and validates openapi.yaml with kin-openapi. It then calls oapi-codegen as a
// library to generate the models, requests, methods, encoders, decoders and routes, with
// templates from the folder oapi. codegen generates everything else with its own templates, in
// the folder templates.
//
// The YAML files in this folder configure oapi-codegen, and add information to openapi.yaml that
// only Go code needs: x-go-read is the expression that reads a field from JSON, and x-go-write is
// the function that writes the field.
//
// If something is missing in openapi.yaml or in the handwritten code, the error names it.
package main

import (
	"log"
	"os"
	"path/filepath"

	"example.com/emailplatform/internal/tools/must"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("codegen: ")
	if err := must.Run(func() { generate(filepath.Join("..", "..", "..")) }); err != nil {
		log.Fatal(err)
	}
}

// generate writes all files below root.
func generate(root string) {
	doc := must.Get(readDocument(filepath.Join(root, "openapi.yaml")))
	generateEvents(root, doc) // before client, which reads the values of its types
	oapiCodegen(root, filepath.Join(root, "client"), "client.yaml", doc.elements())
	mock := filepath.Join(root, "mockserver", "internal")
	oapiCodegen(root, filepath.Join(mock, "api"), "mock.yaml", nil)
	writeAll(mock, mockFiles(doc))
	writeAll(root, referenceFile(root, doc))
	writeAll(root, operationsFile(root, doc))
}

func generateEvents(root string, doc *document) {
	dir := filepath.Join(root, "events")
	writeAll(dir, eventFiles(doc))
	oapiCodegen(root, dir, "events.yaml", nil)
}

// writeAll writes files below dir. The keys of the map are their paths.
func writeAll(dir string, files map[string][]byte) {
	for path, content := range files {
		write(filepath.Join(dir, filepath.FromSlash(path)), content)
	}
}

func write(path string, content []byte) {
	must.OK(os.WriteFile(path, content, 0o644)) //nolint:gosec // all users may read the source
}

// Command codegen generates code and documents from openapi.yaml. go generate ./...
// runs it. It writes:
//
//   - client: models, functions that create requests, methods that only send a request,
//     and functions that encode and decode JSON
//   - events: the same for payloads, the names and types of events, their
//     methods, and testdata from the document's examples
//   - mockserver/internal: models, routes and the list of events (api), the table
//     for validation (contract), the transaction of each operation
//     (platform), and examples of events (samples)
//   - docs/reference.md: every endpoint and every event
//   - mockserver/console/static/operations.json: every endpoint
//
// If something is missing in the document or in the handwritten code, the error
// names it. The YAML files in this folder add information that only Go code needs.
// The .tmpl files are the templates of the output.
package main

//go:generate go run .

import (
	"bytes"
	"context"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"example.com/emailplatform/internal/tools/try"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("codegen: ")
	if err := try.Run(func() { generate(filepath.Join("..", "..", "..")) }); err != nil {
		log.Fatal(err)
	}
}

// generate writes all files below root.
func generate(root string) {
	doc := try.Get(readDocument(filepath.Join(root, "openapi.yaml")))
	generateClient(filepath.Join(root, "client"), doc)
	generateEvents(filepath.Join(root, "events"), doc)
	mock := filepath.Join(root, "mockserver", "internal")
	oapiCodegen(filepath.Join(mock, "api"), "mock.yaml")
	writeAll(mock, mockFiles(doc))
	writeAll(root, referenceFile(root, doc))
	writeAll(root, operationsFile(doc))
}

func generateClient(dir string, doc *document) {
	oapiCodegen(dir, "client.types.yaml", "client.requests.yaml")
	files := []string{filepath.Join(dir, "types.gen.go"), filepath.Join(dir, "requests.gen.go")}
	tidy(files...)
	// Methods have the fields of these types as arguments.
	arguments := []string{"CampaignSchedule", "CreateContactParams", "SuppressedEmailCreate"}
	for _, file := range files {
		rewrite(file, func(src []byte) []byte { return uncapitalized(src, arguments) })
	}
	write(filepath.Join(dir, "encode.gen.go"), try.Get(encode(dir)))
	replaceTypes(files[0], regexp.MustCompile(`\b`+attributeObject+`\b`), "Attributes")
	write(filepath.Join(dir, "methods.gen.go"), methods(dir, doc))
	write(filepath.Join(dir, "decode.gen.go"), try.Get(decode(dir, readFormats("client.overlay.yaml", doc))))
}

func generateEvents(dir string, doc *document) {
	oapiCodegen(dir, "events.yaml")
	tidy(filepath.Join(dir, "types.gen.go"))
	files := eventFiles(doc)
	writeAll(dir, files)
	for _, path := range try.Get(filepath.Glob(filepath.Join(dir, "testdata", "*.json"))) {
		if _, kept := files["testdata/"+filepath.Base(path)]; !kept {
			try.OK(os.Remove(path))
		}
	}
	writeUnixTimes(dir)
}

// oapiCodegen runs the generator of models and routes with settings in this folder. Their paths are relative to dir.
func oapiCodegen(dir string, configs ...string) {
	here := try.Get(os.Getwd())
	modfile, document := filepath.Join(here, "..", "pins", "codegen", "go.mod"), filepath.Join(here, "..", "..", "..", "openapi.yaml")
	for _, config := range configs {
		cmd := exec.CommandContext(context.Background(), "go", "tool", "-modfile="+modfile, "oapi-codegen", //nolint:gosec // names of files in this repository
			"-config", filepath.Join(here, config), document)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			try.Failf("oapi-codegen -config %s: %w\n%s", config, err, bytes.TrimSpace(out))
		}
	}
}

// writeAll writes files, by their paths below dir.
func writeAll(dir string, files map[string][]byte) {
	for path, content := range files {
		write(filepath.Join(dir, filepath.FromSlash(path)), content)
	}
}

func write(path string, content []byte) {
	try.OK(os.WriteFile(path, content, 0o644)) //nolint:gosec // all users may read the source
}

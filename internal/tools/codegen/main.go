// Command codegen generates code and documents from openapi.yaml. go generate ./...
// runs it. It writes:
//
//   - client: models, functions that create requests, and functions that encode and
//     decode JSON
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
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("codegen: ")
	if err := generate(filepath.Join("..", "..", "..")); err != nil {
		log.Fatal(err)
	}
}

// generate writes all files below root. A step that fails leaves out the rest of
// its package; the others are written all the same.
func generate(root string) error {
	doc, err := readDocument(filepath.Join(root, "openapi.yaml"))
	if err != nil {
		return err
	}
	return errors.Join(
		generateClient(filepath.Join(root, "client"), doc),
		generateEvents(filepath.Join(root, "events"), doc),
		generateMock(filepath.Join(root, "mockserver", "internal"), doc),
		generateReference(root, doc),
		generateConsole(filepath.Join(root, "mockserver", "console", "static"), doc),
	)
}

func generateClient(dir string, doc *document) error {
	if err := oapiCodegen(dir, "client.types.yaml", "client.requests.yaml"); err != nil {
		return err
	}
	files := []string{filepath.Join(dir, "types.gen.go"), filepath.Join(dir, "requests.gen.go")}
	if err := tidy(files...); err != nil {
		return err
	}
	// Methods take what these hold as arguments.
	if err := unexport([]string{"CampaignSchedule", "CreateContactParams", "SuppressedEmailCreate"}, files...); err != nil {
		return err
	}
	src, err := encode(dir)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "encode.gen.go"), src); err != nil {
		return err
	}
	if err := replaceTypes(files[0], regexp.MustCompile(`\b`+attributeObject+`\b`), "Attributes"); err != nil {
		return err
	}
	formats, err := readFormats("client.overlay.yaml")
	if err != nil {
		return err
	}
	formats.order = doc.elements()
	return writeReaders(dir, formats)
}

func generateEvents(dir string, doc *document) error {
	if err := oapiCodegen(dir, "events.yaml"); err != nil {
		return err
	}
	if err := tidy(filepath.Join(dir, "types.gen.go")); err != nil {
		return err
	}
	files, err := eventFiles(doc)
	if err != nil {
		return err
	}
	if err := writeAll(dir, files); err != nil {
		return err
	}
	return errors.Join(removeOthers(filepath.Join(dir, "testdata", "*.json"), dir, files), writeUnixTimes(dir))
}

func generateMock(dir string, doc *document) error {
	if err := oapiCodegen(filepath.Join(dir, "api"), "mock.yaml"); err != nil {
		return err
	}
	files, err := mockFiles(doc)
	if err != nil {
		return err
	}
	return writeAll(dir, files)
}

func generateReference(root string, doc *document) error {
	files, err := referenceFile(root, doc)
	if err != nil {
		return err
	}
	return writeAll(root, files)
}

func generateConsole(dir string, doc *document) error {
	files, err := operationsFile(doc)
	if err != nil {
		return err
	}
	return writeAll(dir, files)
}

// oapiCodegen runs the generator of models and routes with settings of this
// folder, whose paths are relative to dir.
func oapiCodegen(dir string, configs ...string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	modfile, document := filepath.Join(here, "..", "pins", "codegen", "go.mod"), filepath.Join(here, "..", "..", "..", "openapi.yaml")
	for _, config := range configs {
		cmd := exec.CommandContext(context.Background(), "go", "tool", "-modfile="+modfile, "oapi-codegen", //nolint:gosec // names of files in this repository
			"-config", filepath.Join(here, config), document)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("oapi-codegen -config %s: %w\n%s", config, err, bytes.TrimSpace(out))
		}
	}
	return nil
}

func writeReaders(dir string, formats *formats) error {
	src, err := decode(dir, formats)
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, "decode.gen.go"), src)
}

// writeAll writes files, by their paths below dir.
func writeAll(dir string, files map[string][]byte) error {
	for path, content := range files {
		if err := write(filepath.Join(dir, filepath.FromSlash(path)), content); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, content []byte) error {
	return os.WriteFile(path, content, 0o644) //nolint:gosec // source is for everyone to read
}

// removeOthers removes what matches the pattern and is not among the files.
func removeOthers(pattern, dir string, files map[string][]byte) error {
	found, err := filepath.Glob(pattern)
	for _, path := range found {
		name, relErr := filepath.Rel(dir, path)
		if _, kept := files[filepath.ToSlash(name)]; relErr == nil && !kept {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

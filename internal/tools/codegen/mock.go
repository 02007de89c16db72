package main

// mockFiles returns the files of the mock server that oapi-codegen does not write.
func mockFiles(doc *document) map[string][]byte {
	return map[string][]byte{
		"api/events.gen.go":          execute("events", doc.events),
		"contract/table.gen.go":      contractTable(doc),
		"platform/operations.gen.go": execute("operations", doc.operations),
		"samples/examples.gen.go":    execute("samples", doc.events),
	}
}

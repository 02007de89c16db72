package api

import _ "embed"

//go:embed openapi.yaml
var document string

// Document returns openapi.yaml as it is written, with the descriptions and
// examples that [GetSpec] can do without.
func Document() []byte { return []byte(document) }

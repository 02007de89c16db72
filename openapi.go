// Package emailplatform contains openapi.yaml, the source of generated code in
// the other packages of the module. Applications import
//
//   - [example.com/emailplatform/client] to call the platform,
//   - [example.com/emailplatform/webhook] and [example.com/emailplatform/events] to
//     receive events,
//   - [example.com/emailplatform/mockserver] to test both.
package emailplatform

//go:generate go -C internal/tools/codegen run .

import _ "embed"

//go:embed openapi.yaml
var openAPI string

// OpenAPI returns the OpenAPI 3.1 document of the platform's API, in YAML.
func OpenAPI() string { return openAPI }

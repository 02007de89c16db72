// Package emailplatform contains openapi.yaml, from which the other packages of the
// module are generated. Applications import
//
//   - [example.com/emailplatform/client] to call the platform,
//   - [example.com/emailplatform/webhook] and [example.com/emailplatform/events] to
//     receive events,
//   - [example.com/emailplatform/mockserver] to test both.
package emailplatform

import _ "embed"

//go:embed openapi.yaml
var openAPI string

// OpenAPI returns the OpenAPI 3.1 document of the platform's API, in YAML.
func OpenAPI() string { return openAPI }

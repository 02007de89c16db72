// Package api is the server side of the platform's API, generated from
// openapi.yaml: models, the interface that handlers implement, routes, and the
// document itself.
package api

//go:generate go tool -modfile=../../../internal/tools/go.mod oapi-codegen -config ../../../internal/codegen/mock.yaml ../../../openapi.yaml
//go:generate go tool -modfile=../../../internal/tools/go.mod oapi-codegen -config ../../../internal/codegen/mock.document.yaml ../../../openapi.yaml

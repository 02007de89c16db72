// Package api is the server side of the platform's API, generated from
// openapi.yaml: models, the interface that handlers implement, routes, and the
// document itself.
package api

// Package oapiclient tests the mock server with a client that oapi-codegen generates. TestOapiClient
// in the parent folder generates the client and runs the tests.
package oapiclient

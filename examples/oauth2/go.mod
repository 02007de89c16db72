module example.com/emailplatform/examples/oauth2

go 1.26.0

require (
	example.com/emailplatform v0.1.0
	golang.org/x/oauth2 v0.37.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
	golang.org/x/net v0.62.0 // indirect
)

replace example.com/emailplatform => ../..

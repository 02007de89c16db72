module example.com/emailplatform

go 1.26.0

require (
	github.com/getkin/kin-openapi v0.152.0
	github.com/oasdiff/yaml3 v0.0.16
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/stretchr/testify v1.12.1
	golang.org/x/net v0.38.0
	golang.org/x/text v0.23.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/go-openapi/jsonpointer v1.0.2 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/oasdiff/yaml v0.1.3 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

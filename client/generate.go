package client

//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/client.types.yaml ../openapi.yaml
//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/client.requests.yaml ../openapi.yaml
//go:generate go run ../internal/codegen/gendoc types.gen.go requests.gen.go
//go:generate go run ../internal/codegen/decodegen -optional types.gen.go decode.gen.go

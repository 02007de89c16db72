package events

//go:generate go tool -modfile=../internal/tools/go.mod oapi-codegen -config ../internal/codegen/events.yaml ../openapi.yaml
//go:generate go run ../internal/codegen/gendoc types.gen.go
//go:generate go run ../internal/codegen/decodegen types.gen.go decode.gen.go

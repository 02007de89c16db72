package main

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"

	"example.com/emailplatform/internal/tools/must"
)

// writtenSchemas returns the schemas whose types get a method that writes JSON without reflection. These are request
// bodies, types with times in Unix seconds, and the parts of both.
func writtenSchemas(spec *openapi3.T) map[*openapi3.Schema]bool {
	written := map[*openapi3.Schema]bool{}
	var add func(*openapi3.SchemaRef)
	add = func(ref *openapi3.SchemaRef) {
		if ref == nil || written[ref.Value] {
			return
		}
		written[ref.Value] = ref.Value.Properties != nil
		add(ref.Value.Items)
		for _, p := range ref.Value.Properties {
			add(p)
		}
	}
	for _, item := range spec.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil {
				add(op.RequestBody.Value.Content["application/json"].Schema)
			}
		}
	}
	for _, ref := range spec.Components.Schemas {
		if hasTimes(ref.Value) || ref.Value.Extensions["x-writer"] == true {
			add(ref)
		}
	}
	return written
}

// isSet returns the condition that a field is not zero.
func isSet(p codegen.Property) string {
	value, typ := "v."+p.GoFieldName(), goType(p)
	json := p.Schema.OAPISchema.Type
	switch {
	case strings.HasPrefix(typ, "Nullable["):
		return "!" + value + ".IsZero()"
	case strings.HasPrefix(typ, "*"), json.Is("array"), typ == "Attributes":
		return value + " != nil"
	case json.Is("string"):
		return value + ` != ""`
	case json.Is("integer"):
		return value + " != 0"
	case json.Is("boolean"):
		return value
	}
	return value + " != (" + typ + "{})"
}

// writeField returns the statement that writes the value of a field.
func writeField(p codegen.Property) string {
	value, typ, json := "v."+p.GoFieldName(), goType(p), p.Schema.OAPISchema.Type
	if write, _ := p.Extensions["x-go-write"].(string); write != "" {
		return fmt.Sprintf("%s(w, %s)", write, value)
	}
	scalar := value
	if strings.HasPrefix(typ, "*") {
		scalar = "*" + value
	}
	switch {
	case json.Is("array"):
		return writeSlice(p, value)
	case json.Is("string") && strings.TrimPrefix(typ, "*") != "string":
		return fmt.Sprintf("w.String(string(%s))", scalar)
	case json.Is("string"):
		return fmt.Sprintf("w.String(%s)", scalar)
	case json.Is("integer"):
		return fmt.Sprintf("w.Int(%s)", scalar)
	case json.Is("boolean"):
		return fmt.Sprintf("w.Bool(%s)", scalar)
	case p.Schema.OAPISchema.Properties != nil:
		return value + ".write(w)"
	}
	must.Failf("no writer for the field %s of type %s", p.GoFieldName(), typ)
	return ""
}

func writeSlice(p codegen.Property, value string) string {
	switch item := p.Schema.OAPISchema.Items; {
	case item.Value.Type.Is("string"):
		return fmt.Sprintf("jsonwrite.Strings(w, %s)", value)
	case item.Value.Type.Is("integer"):
		return fmt.Sprintf("jsonwrite.Ints(w, %s)", value)
	case item.Ref != "":
		return fmt.Sprintf("jsonwrite.Slice(w, %s, (*%s).write)", value, codegen.SchemaNameToTypeName(schemaName(item)))
	}
	must.Failf("no writer for the items of the field %s", p.GoFieldName())
	return ""
}

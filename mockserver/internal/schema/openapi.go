package schema

import "maps"

// OpenAPI converts a schema to the JSON Schema of OpenAPI 3.1. It adds named
// objects to the given map.
func (s *Schema) OpenAPI(named map[string]any) map[string]any {
	out := map[string]any{}
	set := func(name string, value any, given bool) {
		if given {
			out[name] = value
		}
	}
	var kinds []map[string]any // some generators do not support a list of types
	for _, kind := range s.Kinds {
		kinds = append(kinds, map[string]any{"type": kind})
	}
	set("anyOf", kinds, len(kinds) > 1)
	if len(kinds) == 1 {
		out = kinds[0]
	}
	set("format", s.Format, s.Format != "")
	set("enum", s.Enum, s.Enum != nil)
	s.Rules.openAPI(s, set)
	if s.Items != nil {
		out["items"] = s.Items.OpenAPI(named)
	}
	if s.Is("object") {
		properties, required := map[string]any{}, []string{}
		for _, f := range s.Fields {
			property := f.Schema.OpenAPI(named)
			if f.Doc != "" {
				property["description"] = f.Doc // OpenAPI 3.1 allows other keywords next to $ref
			}
			properties[f.Name] = property
			if f.Required {
				required = append(required, f.Name)
			}
		}
		out["properties"], out["required"] = properties, required
		set("additionalProperties", false, s.Request)
	}
	maps.Copy(out, s.Extra)
	if s.Name != "" {
		named[s.Name] = out
		out = map[string]any{"$ref": "#/components/schemas/" + s.Name}
	}
	if s.Null {
		return map[string]any{"anyOf": []map[string]any{out, {"type": "null"}}}
	}
	return out
}

func (r Rules) openAPI(s *Schema, set func(name string, value any, given bool)) {
	least, most := "minimum", "maximum"
	switch {
	case s.Is("string"):
		least, most = "minLength", "maxLength"
	case s.Is("array"):
		least, most = "minItems", "maxItems"
	}
	set(least, r.Min, r.Min != "")
	set(most, r.Max, r.Max != "")
	set("exclusiveMinimum", r.Above, r.Above != "")
	if p := patterns()[r.Pattern]; p.match != nil {
		set("pattern", p.match.String(), true)
	}
}

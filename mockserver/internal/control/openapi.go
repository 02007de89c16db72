package control

import (
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform"
	"example.com/emailplatform/mockserver/internal/api"
)

// documentRoutes are the OpenAPI documents.
func (c *Control) documentRoutes() section {
	return section{
		title: "Documents",
		routes: []route{
			handle("GET openapi.json", noInput(c.openAPI), "The OpenAPI 3.1 document of these control routes."),
			handle("GET platform.yaml", rawResponse("application/yaml", servePlatform),
				"The OpenAPI 3.1 document of the API: every endpoint and every event of the platform."),
		},
	}
}

func servePlatform(w http.ResponseWriter, _ *request) error {
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	_, _ = io.WriteString(w, emailplatform.OpenAPI())
	return nil
}

// object is a JSON object of the OpenAPI document.
type object = map[string]any

// openAPI describes the routes.
func (c *Control) openAPI(*request) (object, error) {
	paths, schemas := object{}, object{}
	var tags []object
	for _, s := range c.sections() {
		tags = append(tags, object{"name": s.title, "description": strings.TrimSpace(s.intro + "\n\n" + s.notes)})
		for _, rt := range s.routes {
			path := strings.ReplaceAll(rt.path, "...}", "}")
			item, _ := paths[path].(object)
			if item == nil {
				item = object{}
				paths[path] = item
			}
			for _, method := range rt.methods() {
				item[strings.ToLower(method)] = rt.openAPI(method, s.title, schemas)
			}
		}
	}
	schemas["Problem"] = schemaOf(reflect.TypeFor[api.Problem]()).openAPI(schemas)
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Control routes of the mock server", "version": "1.0.0", "license": object{"name": "MIT", "identifier": "MIT"},
			"description": "What tests do and see. docs/control-api.md is the manual.",
		},
		"servers":    []object{{"url": "/"}},
		"security":   []object{{}, {"token": []string{}}},
		"tags":       tags,
		"paths":      paths,
		"components": object{"schemas": schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}, nil
}

// methods returns the methods of the route.
func (rt route) methods() []string {
	if rt.method == "*" {
		return []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost}
	}
	return []string{rt.method}
}

// openAPI describes an operation. It adds the objects that it refers to.
func (rt route) openAPI(method, tag string, schemas object) object {
	parameters := []object{}
	for _, name := range pathNames(rt.path) {
		parameters = append(parameters, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range rt.query {
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.doc, "schema": p.openAPI()})
	}
	success := object{"description": "Success"}
	switch {
	case rt.handler.media != "":
		success["content"] = object{rt.handler.media: object{}}
	case rt.status() != "204":
		success["content"] = jsonContent(schemaOf(rt.handler.response).openAPI(schemas))
	}
	responses := object{
		rt.status(): success,
		"default":   object{"description": "An error", "content": jsonContent(object{"$ref": "#/components/schemas/Problem"})},
	}
	if rt.handler.optional {
		responses["204"] = object{"description": "Success, and nothing to return"}
	}
	out := object{
		"operationId": operationID(method, rt.path), "tags": []string{tag}, "summary": rt.summary,
		"parameters": parameters, "responses": responses,
	}
	if body := rt.body(); body != nil && method != http.MethodGet && method != http.MethodDelete {
		required := !rt.handler.proxy && (body.kind == "" || slices.ContainsFunc(body.fields, func(f field) bool { return f.required }))
		out["requestBody"] = object{"content": jsonContent(body.openAPI(schemas)), "required": required}
	}
	return out
}

func jsonContent(schema object) object { return object{"application/json": object{"schema": schema}} }

// status returns the status of a success; 2XX if the API decides.
func (rt route) status() string {
	switch {
	case rt.handler.proxy:
		return "2XX"
	case rt.handler.response == reflect.TypeFor[nothing]():
		return "204"
	}
	return "200"
}

// body describes the body of a request, or is nil if it has no fields.
func (rt route) body() *schema {
	switch rt.handler.request {
	case nil:
		return &schema{}
	case reflect.TypeFor[nothing]():
		return nil
	}
	return schemaOf(rt.handler.request)
}

// openAPI describes the values of a parameter.
func (p param) openAPI() object {
	out := object{"type": "string", "minLength": 1}
	switch {
	case p.integer:
		out = object{"type": "integer", "minimum": p.min, "maximum": p.max}
	case p.values != nil:
		out = object{"type": "string", "enum": p.values}
	case p.pattern != nil:
		out = object{"type": "string", "pattern": p.pattern.String()}
	}
	if n, err := strconv.Atoi(p.preset); err == nil {
		out["default"] = n
	}
	return out
}

// openAPI describes a schema. Objects with a name are added to schemas.
func (s *schema) openAPI(schemas object) object {
	out := object{}
	if s.kind != "" {
		out["type"] = s.kind
	}
	if s.format != "" {
		out["format"] = s.format
	}
	if s.enum != nil {
		out["enum"] = s.enum
	}
	if s.items != nil {
		out["items"] = s.items.openAPI(schemas)
	}
	if s.kind == "object" {
		properties, required := object{}, []string{}
		for _, f := range s.fields {
			property := f.schema.openAPI(schemas)
			if f.doc != "" {
				property["description"] = f.doc // OpenAPI 3.1 allows it beside $ref
			}
			properties[f.name] = property
			if f.required {
				required = append(required, f.name)
			}
		}
		out["properties"], out["required"] = properties, required
	}
	if s.object != "" {
		schemas[s.object] = out
		out = object{"$ref": "#/components/schemas/" + s.object}
	}
	if s.null {
		return object{"anyOf": []object{out, {"type": "null"}}}
	}
	return out
}

// pathName is a name in the braces of a path.
var pathName = regexp.MustCompile(`\{([a-z_]+)(?:\.\.\.)?\}`)

// pathNames returns the names in the braces of a path.
func pathNames(path string) (names []string) {
	for _, m := range pathName.FindAllStringSubmatch(path, -1) {
		names = append(names, m[1])
	}
	return names
}

// operationID names a route, such as getOutboxIdHtml.
func operationID(method, path string) string {
	var name strings.Builder
	name.WriteString(strings.ToLower(method))
	separator := func(r rune) bool { return strings.ContainsRune("/{}-_.", r) }
	for _, word := range strings.FieldsFunc(strings.TrimPrefix(path, Prefix), separator) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

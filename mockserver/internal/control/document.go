package control

import (
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform"
	"example.com/emailplatform/mockserver/internal/api"
)

// documentRoutes are the documents of all routes.
func (c *Control) documentRoutes() section {
	return section{
		title: "Documents",
		routes: []route{
			{
				pattern: "GET openapi.json",
				does:    "These control routes as a document of OpenAPI 3.1.",
				handler: answering(c.openAPI),
			},
			{
				pattern: "GET platform.yaml",
				does:    "The API's document, OpenAPI 3.1: every endpoint and every event of the platform.",
				handler: serving("application/yaml", servePlatform),
			},
		},
	}
}

// servePlatform answers with the API's document as it is written.
func servePlatform(w http.ResponseWriter, _ *request) {
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	_, _ = io.WriteString(w, emailplatform.OpenAPI())
}

// object is one of JSON, as documents are made of them.
type object = map[string]any

// openAPI describes the routes, from their declarations.
func (c *Control) openAPI(*request) (object, error) {
	paths, schemas := object{}, object{}
	var tags []object
	for _, s := range c.sections() {
		tags = append(tags, object{"name": s.title, "description": strings.TrimSpace(s.about + "\n\n" + s.after)})
		for _, rt := range s.routes {
			path := strings.ReplaceAll(rt.path(), "...}", "}")
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
	schemas["Problem"] = openAPISchema(schemaOf(reflect.TypeFor[api.Problem]()), schemas)
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Control routes of the mock platform", "version": "1.0.0", "license": object{"name": "MIT", "identifier": "MIT"},
			"description": "What tests do and see. docs/control-api.md is their manual.",
		},
		"servers":    []object{{"url": "/"}},
		"security":   []object{{}, {"token": []string{}}},
		"tags":       tags,
		"paths":      paths,
		"components": object{"schemas": schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}, nil
}

// methods returns the methods that a route takes.
func (rt route) methods() []string {
	if rt.method() == "*" {
		return []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost}
	}
	return []string{rt.method()}
}

// openAPI describes the route for one of its methods. It adds the objects that
// it needs to the schemas.
func (rt route) openAPI(method, tag string, schemas object) object {
	parameters := []object{}
	for _, name := range pathNames(rt.path()) {
		parameters = append(parameters, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range rt.query {
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.means, "schema": p.openAPI()})
	}
	out := object{
		"operationId": operationID(method, rt.path()),
		"tags":        []string{tag},
		"summary":     rt.does,
		"parameters":  parameters,
		"responses": object{
			rt.status(): rt.openAPIAnswer(schemas),
			"default": object{
				"description": "An error",
				"content":     jsonContent(object{"$ref": "#/components/schemas/Problem"}),
			},
		},
	}
	if rt.handler.maybe {
		out["responses"].(object)["204"] = object{"description": "It is done, and there is nothing to answer"}
	}
	if body := rt.body(); body != nil && method != http.MethodGet && method != http.MethodDelete {
		out["requestBody"] = object{"content": jsonContent(openAPISchema(body, schemas)), "required": rt.needsBody()}
	}
	return out
}

func jsonContent(schema object) object { return object{"application/json": object{"schema": schema}} }

// openAPIAnswer describes what a route answers if all is well.
func (rt route) openAPIAnswer(schemas object) object {
	switch {
	case rt.status() == "204":
		return object{"description": "It is done"}
	case rt.handler.media != "":
		return object{"description": "It is done", "content": object{rt.handler.media: object{}}}
	}
	return object{"description": "It is done", "content": jsonContent(openAPISchema(schemaOf(rt.handler.answers), schemas))}
}

// status is that of an answer if all is well; 2XX if the API decides.
func (rt route) status() string {
	switch {
	case rt.open:
		return "2XX"
	case rt.handler.answers == reflect.TypeFor[nothing]():
		return "204"
	}
	return "200"
}

// body describes the body that a route takes, or is nil if that has no members.
func (rt route) body() *schema {
	switch rt.handler.takes {
	case nil:
		return &schema{}
	case reflect.TypeFor[nothing]():
		return nil
	}
	return schemaOf(rt.handler.takes)
}

// needsBody reports whether a route cannot do without a body.
func (rt route) needsBody() bool {
	body := rt.body()
	return body != nil && !rt.open &&
		(body.kind == "" || slices.ContainsFunc(body.members, func(m member) bool { return m.always }))
}

// openAPI describes the values of a parameter.
func (p param) openAPI() object {
	out := object{"type": "string", "minLength": 1}
	switch {
	case p.integer:
		out = object{"type": "integer", "minimum": p.min, "maximum": p.max}
	case p.values != nil:
		out = object{"type": "string", "enum": p.values()}
	case p.pattern != nil:
		out = object{"type": "string", "pattern": p.pattern.String()}
	}
	if n, err := strconv.Atoi(p.usual); err == nil && p.integer {
		out["default"] = n
	} else if p.usual != "" {
		out["default"] = p.usual
	}
	return out
}

// openAPISchema describes a schema; what has a name is described among the
// schemas, and referred to.
func openAPISchema(s *schema, schemas object) object {
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
		out["items"] = openAPISchema(s.items, schemas)
	}
	if s.kind == "object" {
		properties, required := object{}, []string{}
		for _, m := range s.members {
			properties[m.name] = described(openAPISchema(m.schema, schemas), m.means)
			if m.always {
				required = append(required, m.name)
			}
		}
		maps.Copy(out, object{"properties": properties, "required": required})
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

// described adds what a member means. A reference can have that beside it since
// OpenAPI 3.1.
func described(schema object, means string) object {
	if means != "" {
		schema["description"] = means
	}
	return schema
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
	apart := func(r rune) bool { return strings.ContainsRune("/{}-_.", r) }
	for _, word := range strings.FieldsFunc(strings.TrimPrefix(path, Prefix), apart) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

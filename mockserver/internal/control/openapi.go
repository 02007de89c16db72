package control

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.com/emailplatform"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/schema"
)

// manual is the manual without the parameters and types of the routes.
//
//go:embed manual.tmpl
var manual string

// entry is the text of a section or a route in the manual.
type entry struct {
	title   string // of a section, or the method and the path of a route
	text    string // Markdown
	example string // a curl command of a route
}

// entries returns the sections of the manual, each followed by its routes.
var entries = sync.OnceValue(func() (out []entry) {
	for _, part := range strings.Split(strings.Replace(manual, "<!-- fault actions -->", fault.Manual(), 1), "\n##")[1:] {
		title, rest, _ := strings.Cut(part, "\n")
		text, example, _ := strings.Cut(rest, "```sh\n")
		example, _, _ = strings.Cut(example, "\n")
		out = append(out, entry{strings.Trim(title, "# `"), strings.TrimSpace(text), example})
	}
	return out
})

// servePlatform responds with the API's OpenAPI document. It adds the URL of a server
// that processes requests as a user of an account, so generated clients can call the
// API.
func servePlatform(w http.ResponseWriter, _ *request) error {
	const asAccount = `
  - url: accounts/{account_id}/api
    description: The API of this mock server as a user of the account, without a token.
    variables:
      account_id:
        default: '1'
`
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	_, _ = strings.NewReplacer("\nsecurity:\n", asAccount+"security:\n").WriteString(w, emailplatform.OpenAPI())
	return nil
}

type object = map[string]any

func (c *Control) openAPI(*request) (object, error) {
	routes := map[string]route{}
	for _, rt := range c.routes() {
		routes[rt.name()] = rt
	}
	paths, schemas := object{}, object{}
	tags := []object{}
	for _, e := range entries() {
		rt, isRoute := routes[e.title]
		if !isRoute {
			tags = append(tags, object{"name": e.title, "description": e.text})
			continue
		}
		if rt.handler.proxy {
			continue // a path parameter cannot contain slashes; see servePlatform
		}
		item, _ := paths[rt.path].(object)
		if item == nil {
			item = object{}
			paths[rt.path] = item
		}
		operation := rt.openAPI(e, schemas)
		operation["tags"] = []any{tags[len(tags)-1]["name"]}
		item[strings.ToLower(rt.method)] = operation
	}
	schemas["Problem"] = schema.OpenAPI(types().Of(reflect.TypeFor[api.Problem]()), schemas)
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Control routes of the mock server", "version": "1.0.0", "license": object{"name": "MIT", "identifier": "MIT"},
			"description": "The routes that tests use to control the mock server. docs/control-api.md is the manual.",
		},
		"servers":    []object{{"url": "/"}},
		"security":   []object{{}, {"token": []string{}}},
		"tags":       tags,
		"paths":      paths,
		"components": object{"schemas": schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}, nil
}

// openAPI adds the schema of each referenced object to the given schemas.
func (rt route) openAPI(e entry, schemas object) object {
	parameters := []object{}
	for _, name := range pathNames(rt.path) {
		parameters = append(parameters, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range rt.query {
		of := schema.OpenAPI(p.schema, nil)
		if p.preset != "" {
			of["default"] = json.Number(p.preset)
		}
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.doc, "schema": of})
	}
	success := object{"description": "Success"}
	switch {
	case rt.handler.media != "":
		success["content"] = object{rt.handler.media: object{}}
	case rt.status() != "204":
		success["content"] = jsonContent(schema.OpenAPI(types().Of(rt.handler.response), schemas))
	}
	responses := object{
		rt.status(): success,
		"default":   object{"description": "An error", "content": jsonContent(object{"$ref": "#/components/schemas/Problem"})},
	}
	if rt.handler.optional {
		responses["204"] = object{"description": "Success, and nothing to return"}
	}
	out := object{
		"operationId": operationID(rt.method, rt.path), "summary": strings.Join(strings.Fields(e.text), " "),
		"parameters": parameters, "responses": responses,
	}
	if body := rt.body(); body != nil {
		required := slices.ContainsFunc(body.Properties, func(p contract.Property) bool { return p.Required })
		content := object{"schema": schema.OpenAPI(body, schemas)}
		if _, data, _ := strings.Cut(e.example, "--json '"); json.Valid([]byte(strings.TrimSuffix(data, "'"))) {
			content["example"] = json.RawMessage(strings.TrimSuffix(data, "'"))
		}
		out["requestBody"] = object{"content": object{"application/json": content}, "required": required}
	}
	return out
}

func jsonContent(of object) object { return object{"application/json": object{"schema": of}} }

func (rt route) status() string {
	if rt.handler.response == reflect.TypeFor[emptyBody]() {
		return "204"
	}
	return "200"
}

// body returns nil if the request body has no fields.
func (rt route) body() *contract.Schema {
	if rt.handler.body == nil {
		return nil
	}
	body := rt.handler.body()
	if body.Kind == contract.Object && len(body.Properties) == 0 {
		return nil
	}
	return body
}

// pathName matches a name in the braces of a path.
var pathName = regexp.MustCompile(`\{([a-z_]+)(?:\.\.\.)?\}`)

func pathNames(path string) (names []string) {
	for _, m := range pathName.FindAllStringSubmatch(path, -1) {
		names = append(names, m[1])
	}
	return names
}

// operationID returns the operationId of a route, such as getOutboxIdHtml.
func operationID(method, path string) string {
	var name strings.Builder
	name.WriteString(strings.ToLower(method))
	separator := func(r rune) bool { return strings.ContainsRune("/{}-_.", r) }
	for _, word := range strings.FieldsFunc(strings.TrimPrefix(path, Prefix), separator) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

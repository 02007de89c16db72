package main

import (
	"maps"
	"os"
	"path/filepath"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/util"
	yaml "github.com/oasdiff/yaml3"

	"example.com/emailplatform/internal/tools/must"
)

// settings is a configuration of oapi-codegen with several outputs.
type settings struct {
	codegen.Configuration `yaml:",inline"`

	Outputs []output `yaml:"outputs"`
}

// output is a generated file. Templates maps the name of a template of oapi-codegen to the file in the folder oapi that
// replaces the template.
type output struct {
	File      string            `yaml:"file"`
	Templates map[string]string `yaml:"templates"`
}

// oapiCodegen writes the outputs of a configuration in this folder into dir, in their order. It reads the document
// again for each output, because oapi-codegen changes the document and keeps global state.
func oapiCodegen(root, dir, config string, order map[string][]string) {
	var s settings
	must.OK(yaml.Unmarshal(must.Get(os.ReadFile(config)), &s))
	for _, out := range s.Outputs {
		spec := must.Get(util.LoadSwaggerWithOverlay(filepath.Join(root, "openapi.yaml"),
			util.LoadSwaggerWithOverlayOpts{Path: s.OutputOptions.Overlay.Path, Strict: true}))
		nameConstants(spec)
		c := s.Configuration
		c.OutputOptions.UserTemplates = map[string]string{"imports.tmpl": "oapi/imports.tmpl"}
		if len(out.Templates) > 0 {
			inlineParameters(spec)
			_, c.Generate.Client = out.Templates["client"]
			c.Generate.Models = !c.Generate.Client
			c.OutputOptions.UserTemplates = userTemplates(out.Templates)
		}
		maps.Copy(codegen.TemplateFunctions, functions(spec, newDecoder(dir, order)))
		write(filepath.Join(dir, out.File), []byte(must.Get(codegen.Generate(spec, c))))
	}
}

// nameConstants copies the names of constants from the map x-go-constants to the list x-enum-varnames, which
// oapi-codegen reads. The list has the order of the values.
func nameConstants(spec *openapi3.T) {
	for schema, ref := range spec.Components.Schemas {
		names, ok := ref.Value.Extensions["x-go-constants"].(map[string]any)
		if !ok {
			continue
		}
		var list []any
		for _, value := range values(ref.Value) {
			if names[value] == nil {
				must.Failf("the value %s of the schema %s has no name in x-go-constants in the overlay", value, schema)
			}
			list = append(list, names[value])
		}
		ref.Value.Extensions["x-enum-varnames"] = list
	}
}

// userTemplates returns our templates, and templates without output for all other parts. A template without output
// cannot be empty or only a comment, because such a template would not replace the original one.
func userTemplates(ours map[string]string) map[string]string {
	all := map[string]string{"imports.tmpl": "oapi/imports.tmpl", "names.tmpl": "oapi/names.tmpl"}
	for _, name := range []string{"typedef", "param-types", "request-bodies", "constants", "client", "client-with-responses"} {
		all[name+".tmpl"] = "{{- `` -}}\n"
	}
	for name, file := range ours {
		all[name+".tmpl"] = "oapi/" + file
	}
	return all
}

// functions returns the functions that the templates call.
func functions(spec *openapi3.T, d *decoder) map[string]any {
	written := writtenSchemas(spec)
	return map[string]any{
		"typeComment":  typeComment,
		"fieldComment": fieldComment,
		"goType":       goType,
		"decision":     decision,
		"ignored":      ignored,
		"omitzero":     omitzero,
		"methods":      methods,
		"argument":     argument,
		"comment":      comment,
		"written":      func(s *openapi3.Schema) bool { return written[s] },
		"hasTimes":     hasTimes,
		"isSet":        isSet,
		"writeField":   writeField,
		"readers":      d.readers,
	}
}

// inlineParameters copies shared parameters to their operations. Otherwise, oapi-codegen would declare an alias of a
// basic type for each of them.
func inlineParameters(spec *openapi3.T) {
	for _, item := range spec.Paths.Map() {
		for _, p := range item.Parameters {
			p.Ref = ""
		}
		for _, op := range item.Operations() {
			for _, p := range op.Parameters {
				p.Ref = ""
			}
		}
	}
	if spec.Components != nil {
		spec.Components.Parameters = nil
	}
}

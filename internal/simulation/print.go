package simulation

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// goText returns a value as one writes it in Go, without what is zero.
func goText(v any) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(v))
	return b.String()
}

func write(b *strings.Builder, v reflect.Value) {
	if d, ok := v.Interface().(time.Duration); ok {
		fmt.Fprintf(b, "%d * time.Microsecond", d.Microseconds())
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		write(b, v.Elem())
	case reflect.Struct:
		b.WriteString(typeName(v.Type()) + "{")
		comma := ""
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				b.WriteString(comma + v.Type().Field(i).Name + ": ")
				write(b, f)
				comma = ", "
			}
		}
		b.WriteString("}")
	case reflect.Slice:
		b.WriteString(typeName(v.Type()) + "{")
		for i := range v.Len() {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, v.Index(i))
		}
		b.WriteString("}")
	default:
		fmt.Fprintf(b, "%#v", v.Interface())
	}
}

// typeName is the type as another package names it.
func typeName(t reflect.Type) string { return t.String() }

// Test returns the plan as a test that can be pasted.
func (p Plan) Test() string {
	var b strings.Builder
	b.WriteString("func TestFound(t *testing.T) {\n\tsimulation.Replay(t, simulation.Plan{\n")
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() && v.Type().Field(i).Name != "Steps" {
			fmt.Fprintf(&b, "\t\t%s: %s,\n", v.Type().Field(i).Name, goText(f.Interface()))
		}
	}
	b.WriteString("\t\tSteps: []simulation.Step{\n")
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "\t\t\t{At: %s, Do: %s},\n", goText(s.At), goText(s.Do))
	}
	b.WriteString("\t\t},\n\t})\n}\n")
	return b.String()
}

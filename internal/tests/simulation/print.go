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
	if d, ok := reflect.TypeAssert[time.Duration](v); ok {
		b.WriteString(goDuration(d))
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		write(b, v.Elem())
	case reflect.Struct:
		b.WriteString(v.Type().String() + "{")
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
		b.WriteString(v.Type().String() + "{")
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

// goDuration writes a duration in the largest unit of which it is a multiple.
func goDuration(d time.Duration) string {
	switch {
	case d%time.Second == 0:
		return fmt.Sprintf("%d * time.Second", d/time.Second)
	case d%time.Millisecond == 0:
		return fmt.Sprintf("%d * time.Millisecond", d/time.Millisecond)
	}
	return fmt.Sprintf("%d * time.Microsecond", d.Microseconds())
}

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

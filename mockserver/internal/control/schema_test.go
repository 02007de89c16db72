package control

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/engine"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/webhook"
)

// TestEnums: the lists in schema.go contain each action, each kind of records and each constant.
func TestEnums(t *testing.T) {
	c := &Control{Engine: &engine.Engine{}}
	functions := constants(t, "../../../webhook/secret.go", "HashFunction")
	for of, want := range map[reflect.Type][]string{
		reflect.TypeFor[messageAction]():        schema.Texts(slices.Collect(maps.Keys(c.messageActions(actionBody{})))),
		reflect.TypeFor[contactAction]():        schema.Texts(slices.Collect(maps.Keys(c.contactActions()))),
		reflect.TypeFor[waitKind]():             schema.Texts(slices.Collect(maps.Keys(c.waits()))),
		reflect.TypeFor[events.SendingType]():   constants(t, "../../../events/enums.go", "SendingType"),
		reflect.TypeFor[webhook.HashFunction](): functions,
	} {
		assert.ElementsMatch(t, want, types().Enums[of], "%s in schema.go", of)
	}
	seed := engine.SeedSchema().Property("webhooks").Schema.Items
	assert.Equal(t, functions, seed.Property("hash_function").Schema.Enum, "HashFunction in engine/seedbody.go")
}

// constants returns the values of all constants of a type in a source file.
func constants(t *testing.T, file, typ string) (values []string) {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, c := range regexp.MustCompile(`\n\t\w+ +`+typ+` = "(.*)"`).FindAllSubmatch(source, -1) {
		values = append(values, string(c[1]))
	}
	return values
}

package client

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNullable(t *testing.T) {
	for text, want := range map[string]Nullable[string]{`{}`: {}, `{"text":null}`: Null[string](), `{"text":""}`: Value(""), `{"text":"x"}`: Value("x")} {
		var got TemplateContentUpdate
		err := json.Unmarshal([]byte(text), &got)
		require.NoError(t, err, text)
		assert.Equal(t, want, got.Text, text)
		if b, err := json.Marshal(got); err != nil || string(b) != text {
			t.Errorf("%s becomes %s, %v", text, b, err)
		}
		v, ok := got.Text.Get()
		assert.Equal(t, want == Value(v), ok, "%s: Get", text)
	}
	if b, err := json.Marshal(CustomAttributeUpdate{Name: "a"}); err == nil {
		t.Errorf("without the required value: got %s, want an error", b)
	}
}

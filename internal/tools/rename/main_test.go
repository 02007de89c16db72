package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRename(t *testing.T) {
	root := t.TempDir()
	files := []struct{ name, before, after string }{
		{name: "go.mod", before: "module old.test/mail\n", after: "module zoo.test/a/mail\n"},
		{
			name:   "mcp/go.mod",
			before: "module old.test/mail/mcp\n\nreplace old.test/mail => ../\n",
			after:  "module zoo.test/a/mail/mcp\n\nreplace zoo.test/a/mail => ../\n",
		},
		{name: "README.md", before: "go get old.test/mail/client", after: "go get zoo.test/a/mail/client"},
		{name: "other.md", before: "old.test/mailbox, old.test", after: "old.test/mailbox, old.test"},
		{name: "npm/package.json", before: `"@old/emailplatform-mock", "@old/x"`, after: `"@a/emailplatform-mock", "@old/x"`},
		{name: "logo.png", before: "\x00old.test/mail", after: "\x00old.test/mail"},
		{name: ".git/config", before: "old.test/mail", after: "old.test/mail"},
		{name: "vendor/modules.txt", before: "# old.test/mail", after: "# old.test/mail"},
		{
			name:   "sorted.go",
			before: "package p\n\nimport (\n\t_ \"old.test/mail/client\"\n\t_ \"pig.test/x\"\n)\n",
			after:  "package p\n\nimport (\n\t_ \"pig.test/x\"\n\t_ \"zoo.test/a/mail/client\"\n)\n",
		},
	}
	for _, file := range files {
		name := filepath.Join(root, file.name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(file.before), 0o644))
	}

	changed, err := rename(root, "zoo.test/a/mail")
	require.NoError(t, err)
	if changed != 5 {
		t.Errorf("changed %d files, want 5", changed)
	}
	for _, file := range files {
		got, err := os.ReadFile(filepath.Join(root, file.name))
		require.NoError(t, err)
		assert.Equal(t, file.after, string(got), file.name)
	}
}

func TestRenameInvalid(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{"", "mail", "/mail", "a b/c", "https://github.com/a/b", "github.com/a/", "a//b/"} {
		if _, err := rename(root, path); err == nil || !strings.Contains(err.Error(), "not a module path") {
			t.Errorf("rename to %q: error %v, want it to say that this is not a module path", path, err)
		}
	}
	if _, err := rename(root, "github.com/a/b"); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("without go.mod: error %v, want it to name the file", err)
	}
}

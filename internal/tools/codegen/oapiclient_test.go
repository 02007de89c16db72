package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

// TestOapiClient runs the tests of the folder oapiclient. They test the mock server with a client that oapi-codegen
// generates with its own templates, so the client shares no code with the SDK. This client has 23,000 lines, so it is
// not in the repository. The test also generates code for the control API, which must compile.
func TestOapiClient(t *testing.T) {
	_, err := os.ReadFile("oapiclient/oapiclient_test.go") // the test cache observes the files that the test opens
	require.NoError(t, err)
	dir := t.TempDir()
	generated := func(name, document string) string {
		path := filepath.Join(dir, name)
		goCommand(t, "tool", "oapi-codegen", "-package", "oapiclient", "-generate", "types,client,std-http-server", "-o", path, document)
		return path
	}
	here, err := filepath.Abs("oapiclient")
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(here, "client.gen.go"):         generated("client.gen.go", filepath.Join(root, "openapi.yaml")),
		filepath.Join(here, "control", "api.gen.go"): generated("control.gen.go", controlDocument(t, dir)),
	}})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, overlay, 0o600))
	goCommand(t, "test", "-vet=off", "-tags", "oapiclient", "-overlay", path, "./oapiclient/...")
}

func goCommand(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// controlDocument writes the mock server's document of its control API into a file.
func controlDocument(t *testing.T, dir string) string {
	t.Helper()
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	_, body := rawhttp.Send(t, srv.HTTPClient(), rawhttp.NewRequest(t, http.MethodGet, srv.URL()+"/_mock/openapi.json", "", ""))
	path := filepath.Join(dir, "control.json")
	require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

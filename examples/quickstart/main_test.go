package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// secretToken must not be in any output.
const secretToken = "canary-7f3a9c"

func env(url, token string) func(string) string {
	return func(name string) string {
		return map[string]string{"EMAILPLATFORM_BASE_URL": url, "EMAILPLATFORM_TOKEN": token}[name]
	}
}

func runHere(t *testing.T, getenv func(string) string, file string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), file, "", getenv, &out)
	if text := out.String() + fmt.Sprint(err); strings.Contains(text, secretToken) {
		t.Errorf("the output contains the token:\n%s", text)
	}
	return out.String(), err
}

func wantAll(t *testing.T, out string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(out, line) {
			t.Errorf("missing %q in:\n%s", line, out)
		}
	}
}

func TestEmbeddedPlatform(t *testing.T) {
	out, err := runHere(t, env("", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, out,
		`contacts.csv:305: email must not be empty`,
		`contacts.csv:477: "mary ann@example.com" rejected: not an email address`,
		`Looked up    tomas.cermak@studio.example: hard bounce (bounce_hb), 550 5.1.1`,
		`Looked up    m.johnson@school.test: soft bounce (bounce_fm), 452 4.2.2`,
		`Looked up    jameskowalski@post.example.org: reported as spam`,
		`contacts: 2490 imported, 0 updated, 10 rejected`,
		`emails: 6 submitted, 0 rejected`,
		`events: 6 received and verified, 2 bounced, 1 complained, 2 left the list`)
}

// TestPrintable: text from the platform cannot control the terminal.
func TestPrintable(t *testing.T) {
	var out strings.Builder
	(&tour{out: &out}).say("Looked up", "%s", "\x1b[2Jada\n@example.org")
	if want := "Looked up    ?[2Jada?@example.org\n"; out.String() != want {
		t.Errorf("printed %q, want %q", &out, want)
	}
}

func TestUnreachableServer(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{Tokens: []mockserver.Token{{Value: secretToken}}})
	defer srv.Close()
	file := writeFile(t, "email,first_name\nada@example.com,Ada\n")
	out, err := runHere(t, env(srv.URL(), secretToken), file)
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, out,
		"Recipients   not simulated",
		"contacts: 1 imported, 0 updated, 0 rejected",
		"emails: 1 submitted",
		"events: 1 received and verified, 0 bounced, 0 complained, 1 left the list")
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mine.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestBadInput: each error is one line.
func TestBadInput(t *testing.T) {
	embedded := env("", "")
	mock := mockserver.Start(mockserver.Config{})
	t.Cleanup(mock.Close)

	tests := map[string]struct {
		getenv func(string) string
		file   string
		want   string
	}{
		"too many fields": {
			getenv: embedded,
			file:   writeFile(t, "email,name\na@example.com,A\nb@example.com,B,C\n"),
			want:   "mine.csv: import: source failed after 1 contacts: line 3: wrong number of fields",
		},
		"only a header": {
			getenv: embedded,
			file:   writeFile(t, "email\n"), want: "mine.csv: the file has no valid rows",
		},
		"no such file": {getenv: embedded, file: filepath.Join(t.TempDir(), "none.csv"), want: "none.csv: "},
		"no token":     {getenv: env(mock.URL(), ""), want: "EMAILPLATFORM_TOKEN is not"},
		"no base URL":  {getenv: env("", secretToken), want: "EMAILPLATFORM_BASE_URL is not"},
		"plain http":   {getenv: env("http://platform.test", secretToken), want: "BaseURL: plain http"},
		"wrong token":  {getenv: env(mock.URL(), secretToken), want: "createList: POST /lists: 401 Unauthorized"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := runHere(t, tt.getenv, tt.file)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q in it", err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
		})
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out stopWriter
	out.stop = cancel
	err := run(ctx, "", "", env("", ""), &out)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the context's error", err)
	}
	if strings.Contains(out.String(), "Summary") {
		t.Errorf("the program continued after it was stopped:\n%s", out.String())
	}
}

// stopWriter stops the program during the import.
type stopWriter struct {
	strings.Builder
	stop func()
}

func (w *stopWriter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "Importing") {
		w.stop()
	}
	return w.Builder.Write(p)
}

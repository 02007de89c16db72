package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// demonstrate imports a file into the mock server, stops half-way, and resumes.
func demonstrate(ctx context.Context) error {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token()})
	if err != nil {
		return err
	}
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "import-csv")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the system's temporary folder
	name := filepath.Join(dir, "contacts.csv")
	if err := writeRows(name, 25_000); err != nil {
		return err
	}
	to := target{BaseURL: platform.URL(), ListID: list.ID}
	first, cancel := context.WithCancel(ctx)
	defer cancel()
	err = importFile(first, c, &stopAt{Writer: os.Stdout, text: strings.Repeat("=", 19), stop: cancel}, to, name)
	switch {
	case err == nil:
		return errors.New("the import was over before it could be stopped")
	case !errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return err
	}
	fmt.Println("\nstopped, as Ctrl-C does; again:")
	return importFile(ctx, c, os.Stdout, to, name)
}

func writeRows(name string, n int) error {
	var b strings.Builder
	b.WriteString("email,first_name,tags\n")
	for i := range n {
		fmt.Fprintf(&b, "customer%05d@example.org,Customer %d,imported\n", i, i)
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}

// stopAt calls stop when text is written.
type stopAt struct {
	io.Writer
	text string
	stop func()
}

func (w *stopAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.stop()
	}
	return w.Writer.Write(p)
}

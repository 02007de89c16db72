package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// checkpoint is how far an import has come, kept in a file.
type checkpoint struct {
	ListID    int64  `json:"list_id"`
	SHA256    string `json:"sha256"` // of the whole file
	Confirmed int64  `json:"confirmed"`
}

// load takes up the checkpoint of an earlier import, if there is one. It refuses
// one that was about another list or another file.
func (c *checkpoint) load(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var old checkpoint
	if err := json.Unmarshal(b, &old); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if old.ListID != c.ListID || old.SHA256 != c.SHA256 {
		return fmt.Errorf("%s is about another file, or another list than %d: remove it to start anew", path, c.ListID)
	}
	*c = old
	return nil
}

// store replaces the file atomically: after a crash it has the old or the new
// content.
func (c *checkpoint) store(path string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// removeCheckpoint is for when all is imported.
func removeCheckpoint(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an empty file had nothing to confirm
	}
	return err
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// checkpoint is the progress of an import, which is stored in a file.
type checkpoint struct {
	target
	Confirmed int64 `json:"confirmed"`
}

// target identifies the file and the list of an import. It contains the list's creation
// time, because lists of different platforms and accounts can have the same id.
type target struct {
	BaseURL       string    `json:"base_url"`
	ListID        int64     `json:"list_id"`
	ListCreatedOn time.Time `json:"list_created_on"`
	SHA256        string    `json:"sha256"` // of the whole file
	CSV           string    `json:"csv"`    // options of the file
}

// load reads the checkpoint of an earlier import, if there is one. If the checkpoint
// belongs to another file or another list, load returns an error.
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
	same := old.target
	same.ListCreatedOn = c.ListCreatedOn
	if same != c.target || !old.ListCreatedOn.Equal(c.ListCreatedOn) {
		return fmt.Errorf("%s is the checkpoint of another import, to list %d of %s; delete it to start from the beginning", path, old.ListID, old.BaseURL)
	}
	*c = old
	return nil
}

// store replaces the file atomically, so it contains the old or the new content after
// a crash.
func (c *checkpoint) store(path string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

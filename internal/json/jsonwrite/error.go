package jsonwrite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

const notUTF8 = "is not UTF-8"

// Refuse records that the next value cannot be sent. Only the first call has an effect.
func (w *Writer) Refuse(mistake string) {
	if w.mistake == "" {
		w.mistake, w.at = mistake, len(w.Bytes)
	}
}

// Err returns an error for the first value that cannot be encoded, such as
// "contacts.3.tags.0: is not UTF-8", or nil if there is none.
func (w *Writer) Err() error {
	if w.mistake == "" {
		return nil
	}
	way := locate(jsonscan.New(string(w.Bytes[:w.at])), nil)
	if len(way) == 0 {
		return errors.New(w.mistake)
	}
	return fmt.Errorf("%s: %s", strings.Join(way, "."), w.mistake)
}

// locate reads the next value in an incomplete text. If the text ends in that value,
// locate returns the path of the missing value; otherwise it returns nil. It parses
// the written text, so the writer does not have to record paths.
func locate(c *jsonscan.Cursor, way []string) []string {
	switch c.Peek() {
	case '{':
		for name := range c.Object() {
			if found := locate(c, append(way, name)); found != nil {
				return found
			}
		}
	case '[':
		i := 0
		for range c.Array() {
			if found := locate(c, append(way, strconv.Itoa(i))); found != nil {
				return found
			}
			i++
		}
	default:
		c.Skip()
		if c.Err() != nil {
			return way
		}
	}
	return nil
}

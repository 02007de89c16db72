package events

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// MarshalJSON implements [json.Marshaler]. See "Encoding" in the package documentation.
func (e Event) MarshalJSON() ([]byte, error) {
	now, err := e.encode()
	if err != nil || e.raw == "" {
		return now, err
	}
	parsed, mismatches := parse(e.raw)
	if parsed == nil {
		return nil, newParseError(mismatches[0], nil)
	}
	was, err := parsed.encode()
	if err != nil {
		return nil, err
	}
	raw := strings.TrimPrefix(e.raw, "\ufeff") // a byte order mark is not part of the JSON
	return merge(json.RawMessage(raw), was, now)
}

// UnmarshalJSON implements [json.Unmarshaler] by calling [Parse].
func (e *Event) UnmarshalJSON(b []byte) error {
	parsed, err := Parse(b)
	if err != nil {
		return err
	}
	*e = *parsed
	return nil
}

func (e *Event) encode() (json.RawMessage, error) {
	if e.general || e.raw == "" && generalName(e.Name) {
		return json.Marshal(generalEnvelope{e.Name, e.Time, e.Data, e.ID, e.AccountID, e.User, e.IP})
	}
	return e.encodeCompliance()
}

// writer is implemented by payload types that contain times. The code generator writes
// the method.
type writer interface{ write(w *jsonwrite.Writer) }

// encodeCompliance returns the compliance envelope. It does not use encoding/json,
// because encoding/json would check and copy the output of each MarshalJSON method
// again.
func (e *Event) encodeCompliance() (json.RawMessage, error) {
	w := jsonwrite.Writer{Bytes: make([]byte, 0, 512)}
	w.Open('{')
	w.Name(`"id":`)
	w.String(e.ID)
	w.Name(`"event":`)
	w.String(string(e.Name))
	w.Name(`"account_id":`)
	w.Int(e.AccountID)
	w.Name(`"account_lineage":`)
	w.Null()
	w.Name(`"ip":`)
	w.String(e.IP)
	w.Name(`"user":`)
	e.User.write(&w)
	w.Name(`"created_on":`)
	writeUnixTime(&w, e.Time)
	w.Name(`"data":`)
	if data, ok := e.Data.(writer); ok && !reflect.ValueOf(data).IsNil() {
		data.write(&w)
	} else {
		text, err := json.Marshal(e.Data)
		if err != nil {
			return nil, err
		}
		w.Bytes = append(w.Bytes, text...)
	}
	w.Close('}')
	return w.Bytes, nil
}

func (u *User) write(w *jsonwrite.Writer) {
	w.Open('{')
	w.Name(`"id":`)
	writeNullInt(w, u.ID)
	w.Name(`"email":`)
	writeNullString(w, u.Email)
	w.Name(`"account_id":`)
	writeNullInt(w, u.AccountID)
	w.Close('}')
}

// generalEnvelope contains fields of the compliance envelope only if they were
// set.
type generalEnvelope struct {
	Event     Name      `json:"event"`
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
	ID        string    `json:"id,omitzero"`
	AccountID int64     `json:"account_id,omitzero"`
	User      User      `json:"user,omitzero"`
	IP        string    `json:"ip,omitzero"`
}

// merge applies the differences between was and now to raw. Both was and now contain
// only known fields.
func merge(raw, was, now json.RawMessage) (json.RawMessage, error) {
	if bytes.Equal(was, now) {
		return raw, nil
	}
	if !isObject(raw) || !isObject(was) || !isObject(now) {
		return now, nil
	}
	var rawMembers, wasMembers, nowMembers map[string]json.RawMessage
	for _, m := range []struct {
		text    json.RawMessage
		members *map[string]json.RawMessage
	}{{raw, &rawMembers}, {was, &wasMembers}, {now, &nowMembers}} {
		if err := json.Unmarshal(m.text, m.members); err != nil {
			return nil, err
		}
	}
	for name := range wasMembers {
		if _, exists := nowMembers[name]; !exists {
			delete(rawMembers, name)
		}
	}
	for name, value := range nowMembers {
		if bytes.Equal(wasMembers[name], value) {
			continue // unchanged, even if the field was absent
		}
		merged, err := merge(rawMembers[name], wasMembers[name], value)
		if err != nil {
			return nil, err
		}
		rawMembers[name] = merged
	}
	return json.Marshal(rawMembers)
}

func isObject(text json.RawMessage) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}

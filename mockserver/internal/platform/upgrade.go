package platform

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// olderVersion is the previous version of the state format. It differs from
// snapshotVersion in the fields of some records.
const olderVersion = 3

// renamed contains the new names of renamed fields, by collection and old name.
var renamed = map[string]map[string]string{
	"campaigns": {"id": "campaign_id", "from": "sender"},
	"contacts":  {"attributes": "custom_attributes", "bounces": "bounces_count"},
	"lists":     {"id": "list_id"},
	"templates": {"id": "template_id"},
	"workflows": {"id": "workflow_id", "from": "sender"},
}

// upgrader returns a function that decodes a record of the older version.
func upgrader(collection string) recordDecoder {
	return func(d *json.Decoder, into reflect.Value) error {
		var raw json.RawMessage
		if err := decodeInto(d, reflect.ValueOf(&raw)); err != nil {
			return err
		}
		upgraded := json.NewDecoder(bytes.NewReader(upgrade(collection, raw)))
		upgraded.DisallowUnknownFields()
		return decodeInto(upgraded, into)
	}
}

// upgrade converts a record. It returns a value that is not an object unchanged,
// because decoding that value returns a suitable error.
func upgrade(collection string, record json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(record, &fields) != nil || fields == nil {
		return record
	}
	for before, after := range renamed[collection] {
		if value, ok := fields[before]; ok {
			delete(fields, before)
			fields[after] = value
		}
	}
	switch collection {
	case "accounts":
		for name := range renamed {
			var records []json.RawMessage
			if json.Unmarshal(fields[name], &records) != nil {
				continue
			}
			for i := range records {
				records[i] = upgrade(name, records[i])
			}
			fields[name] = encode(records)
		}
	case "templates":
		fields["content"] = encode(map[string]json.RawMessage{"html": fields["html"], "text": fields["text"]})
		delete(fields, "html")
		delete(fields, "text")
	case "workflows":
		fields["status"] = encode(workflowInactive)
		if string(fields["active"]) == "true" {
			fields["status"] = encode(statusActive)
		}
		delete(fields, "active")
	}
	return encode(fields)
}

func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v) // cannot fail: all values are strings or valid JSON
	return b
}

// Package rpcid checks the ids of JSON-RPC messages before the SDK decodes them.
package rpcid

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// maxID is the largest integer that the SDK and every JSON parser represent exactly.
const maxID = 1<<53 - 1

// Check returns the id of a message, if any. It returns an error if the SDK would
// respond with another id: the SDK truncates fractions and rounds large integers, so the
// caller would wait for its response forever.
func Check(message []byte) (id json.RawMessage, err error) {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(message, &m) // other checks reject an invalid message
	n, err := strconv.ParseFloat(string(m.ID), 64)
	if errors.Is(err, strconv.ErrSyntax) || err == nil && n == math.Trunc(n) && math.Abs(n) <= maxID {
		return m.ID, nil // not a number, or a number that the SDK represents exactly
	}
	return m.ID, errors.New("the id must be a string or an integer from -9007199254740991 to 9007199254740991")
}

package environment

import (
	"errors"
	"fmt"
	"strings"
)

// fixedIDs returns the ids of contacts by address. Either all contacts of a list have
// an id or none, because the ids of a list ascend.
func fixedIDs(contacts []seedContact) (func(from, to int) map[string]int64, error) {
	ids := make([]int64, len(contacts))
	seen := map[string]bool{}
	for i, c := range contacts {
		var err error
		if ids[i] = c.ID; i > 0 {
			err = follows(ids[i], ids[i-1])
		}
		if address := strings.ToLower(c.Email); err == nil && ids[i] != 0 {
			if seen[address] {
				err = errors.New("email: the list already contains it with another id")
			}
			seen[address] = true
		}
		if err != nil {
			return nil, fmt.Errorf("contacts[%d].%w", i, err)
		}
	}
	return func(from, to int) map[string]int64 {
		if ids[from] == 0 {
			return nil
		}
		out := map[string]int64{}
		for i := from; i < to; i++ {
			out[strings.ToLower(contacts[i].Email)] = ids[i]
		}
		return out
	}, nil
}

// follows requires that the id of a contact is greater than the previous id.
func follows(id, before int64) error {
	switch {
	case (id == 0) != (before == 0):
		return errors.New("id: must be set for all contacts of the list or for none")
	case id != 0 && id <= before:
		return fmt.Errorf("id: must be greater than %d, the id of the previous contact", before)
	}
	return nil
}

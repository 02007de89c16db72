package environment

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/webhook"
)

// fixedOf takes out of an item of a seed what it fixes, which the API would not
// take.
func fixedOf(item map[string]any, idName string) (platform.Fixed, error) {
	id, err := takeID(item, idName)
	if err != nil || idName != "webhook_id" {
		return platform.Fixed{ID: id}, err
	}
	secret, err := takeText(item, "secret")
	if err != nil {
		return platform.Fixed{}, err
	}
	hash, err := takeText(item, "hash_function")
	return platform.Fixed{ID: id, Secret: secret, Hash: webhook.HashFunction(strings.ToLower(hash))}, err
}

// takeID takes an id, as a number or as a text: the API has both.
func takeID(item map[string]any, name string) (int64, error) {
	value, given := item[name]
	if !given {
		return 0, nil
	}
	delete(item, name)
	id, err := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("%s: want an id", name)
	}
	return id, nil
}

func takeText(item map[string]any, name string) (string, error) {
	value, given := item[name]
	if !given {
		return "", nil
	}
	delete(item, name)
	text, ok := value.(string)
	if !ok || text == "" {
		return "", fmt.Errorf("%s: want a text", name)
	}
	return text, nil
}

// fixedIDs removes the ids from the contacts of a list, and returns them by
// address. Either all contacts have an id or none, because the ids of a list
// ascend.
func fixedIDs(contacts []map[string]any) (func(from, to int) map[string]int64, error) {
	ids := make([]int64, len(contacts))
	seen := map[string]bool{}
	for i, contact := range contacts {
		var err error
		if ids[i], err = takeID(contact, "id"); err == nil && i > 0 {
			err = follows(ids[i], ids[i-1])
		}
		if address := addressOf(contact); err == nil && ids[i] != 0 {
			if seen[address] {
				err = errors.New("email: the list has it already, under another id")
			}
			seen[address] = true
		}
		if err != nil {
			return nil, fmt.Errorf("contacts[%d]: %w", i, err)
		}
	}
	return func(from, to int) map[string]int64 {
		if ids[from] == 0 {
			return nil
		}
		out := map[string]int64{}
		for i := from; i < to; i++ {
			out[addressOf(contacts[i])] = ids[i]
		}
		return out
	}, nil
}

// follows requires that the id of a contact is greater than the previous id.
func follows(id, before int64) error {
	switch {
	case (id == 0) != (before == 0):
		return errors.New("id: want one for every contact of the list, or for none")
	case id != 0 && id <= before:
		return fmt.Errorf("id: want more than %d, which the contact before it has", before)
	}
	return nil
}

func addressOf(contact map[string]any) string { return strings.ToLower(fmt.Sprint(contact["email"])) }

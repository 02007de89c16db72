package mockserver

import "fmt"

// prefixed adds the names of this package and of the operation to an error of an internal
// package. The control routes return the error without them.
func prefixed(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mockserver: %s: %w", operation, err)
}

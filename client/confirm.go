package client

import "fmt"

// confirmed returns the confirmed result of a write: the response to the write if shown
// accepts it, or else the response to get() if shown accepts that. If shown accepts neither,
// the outcome of the write is unknown, and confirmed returns the last result together with
// an error. The table under "Confirmed writes" in the package documentation lists the
// writes.
func confirmed[T any](r request, result T, what string, get func() (T, error), shown func(T) bool) (T, error) {
	if shown(result) {
		return result, nil
	}
	now, err := get()
	if err == nil && shown(now) {
		return now, nil
	}
	e := newErrorAfterSuccess(r, fmt.Errorf("the platform did not confirm %s", what))
	e.result, e.effect = unreadable, maybeDone
	if err != nil {
		return result, e.wrapping(err)
	}
	return now, e
}

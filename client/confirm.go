package client

import "fmt"

// confirmed returns the result of a write that the platform must confirm. The table under
// "Confirmed writes" in the package documentation lists these writes. The parameter result is
// the response to the write. To check whether a response confirms the write, confirmed calls
// shown(). If the first response does not confirm the write, confirmed calls get(), which
// requests the resource. If this second response does not confirm it either, the outcome of
// the write is unknown, and confirmed returns the last result together with an error.
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

package must_test

import (
	"errors"
	"strconv"
	"testing"

	"example.com/emailplatform/internal/tools/must"
)

func half(text string) (n int, err error) {
	defer must.Catch(&err)
	n = must.Get(strconv.Atoi(text))
	if n%2 != 0 {
		must.Failf("%d is odd", n)
	}
	if n < 0 {
		panic("negative")
	}
	return n / 2, nil
}

func TestCatch(t *testing.T) {
	if n, err := half("8"); n != 4 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := half("x"); !errors.Is(err, strconv.ErrSyntax) {
		t.Errorf("invalid number: got %v", err)
	}
	if _, err := half("3"); err == nil || err.Error() != "3 is odd" {
		t.Errorf("odd number: got %v", err)
	}
	defer func() {
		if v := recover(); v != "negative" {
			t.Errorf("another panic: got %v", v)
		}
	}()
	_, _ = half("-2")
}

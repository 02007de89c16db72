package main

import "fmt"

// figure is what was measured, and what it must be.
type figure struct {
	name  string
	value float64
	unit  string
	bound bound
	limit float64
	// speed is true for what a busy machine spoils: it is not judged in the short
	// form, which shares its machine with whatever else runs there.
	speed bool
}

type bound int

const (
	info    bound = iota // nothing is asked of it
	exactly              // the limit
	atMost
	atLeast
)

func (f figure) met() bool {
	switch f.bound {
	case exactly:
		return f.value == f.limit
	case atMost:
		return f.value <= f.limit
	case atLeast:
		return f.value >= f.limit
	}
	return true
}

// wanted says what was asked for.
func (f figure) wanted() string {
	sign := [...]string{"", "= ", "≤ ", "≥ "}[f.bound]
	if f.bound == info {
		return ""
	}
	return sign + number(f.limit)
}

func number(v float64) string {
	switch {
	case v == float64(int64(v)):
		return fmt.Sprintf("%d", int64(v))
	case v < 10:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// report prints a table and returns how many figures are missed.
func report(figures []figure, short bool) (missed int) {
	for _, f := range figures {
		verdict := ""
		switch {
		case f.bound == info:
		case f.met():
			verdict = "met"
		case short && f.speed:
			verdict = "not judged in the short form"
		default:
			verdict = "MISSED"
			missed++
		}
		fmt.Printf("  %-46s %10s %-4s %-9s %s\n", f.name, number(f.value), f.unit, f.wanted(), verdict)
	}
	fmt.Println()
	return missed
}

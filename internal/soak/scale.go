package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/emailplatform/mockserver"
)

// most is how many times as long an operation may take beside the most records as
// beside the fewest.
const most = 4

// scaleTrials measure what the platform's operations take beside so many records of
// each kind. What grows with them, unless it lists everything, is lost.
func scaleTrials(sizes []int) (trials []trial) {
	for _, k := range kinds() {
		trials = append(trials, trial{"scale: " + k.name, func(ctx context.Context, _ bool) (result, error) {
			t := scaleTable{sizes: k.capped(sizes)}
			for _, n := range t.sizes {
				if err := t.measureAll(ctx, k, n); err != nil {
					return result{}, fmt.Errorf("beside %d: %w", n, err)
				}
			}
			var text strings.Builder
			t.print(&text)
			tried := fmt.Sprintf("%d operations beside up to %d records", len(t.rows), slices.Max(t.sizes))
			return result{tried: tried, lost: t.growing(), table: text.String()}, nil
		}})
	}
	return trials
}

// numbers reads sizes, the least first.
func numbers(text string) (sizes []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1000 || len(sizes) > 0 && n <= sizes[len(sizes)-1] {
			return nil, fmt.Errorf("-scale: want numbers of 1000 or more, each greater than the one before, not %q", text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// kind is records of one kind, and the operations that they could hold up.
type kind struct {
	name string
	most int // no more of them than so many; 0 is any number
	fill func(w *scaleWorld, n int) []operation
}

// capped returns the sizes that there can be of a kind.
func (k kind) capped(sizes []int) (out []int) {
	for _, n := range sizes {
		if k.most > 0 {
			n = min(n, k.most)
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// operation is measured by calls with 0, then 1, and so on.
type operation struct {
	name string
	all  bool // it lists or takes everything, and may take as long as that
	once bool
	call func(i int)
}

// scaleTable are the fastest calls of each operation, beside each number of records.
type scaleTable struct {
	sizes []int
	rows  []*scaleRow
}

type scaleRow struct {
	name string
	all  bool
	took []time.Duration // by size
}

func (t *scaleTable) measureAll(ctx context.Context, k kind, n int) (err error) {
	w := newScaleWorld(ctx)
	defer w.srv.Close()
	defer func() {
		if failed, ok := recover().(scaleError); ok {
			err = failed.error
		}
	}()
	for _, op := range k.fill(w, n) {
		runtime.GC()
		t.row(k, op).took = append(t.row(k, op).took, fastest(op))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (t *scaleTable) row(k kind, op operation) *scaleRow {
	name := k.name + ": " + op.name
	for _, r := range t.rows {
		if r.name == name {
			return r
		}
	}
	t.rows = append(t.rows, &scaleRow{name: name, all: op.all})
	return t.rows[len(t.rows)-1]
}

// fastest returns the least that a call took: what others do on the machine only
// ever adds.
func fastest(op operation) time.Duration {
	if op.once {
		start := time.Now()
		op.call(0)
		return time.Since(start)
	}
	least := time.Hour
	begun := time.Now()
	for i := 0; i < 20 || i < 400 && time.Since(begun) < 60*time.Millisecond; i++ {
		start := time.Now()
		op.call(i)
		least = min(least, time.Since(start))
	}
	return least
}

// growing returns what takes longer beside more records than it may.
func (t *scaleTable) growing() (lost []string) {
	for _, r := range t.rows {
		first, last := r.took[0], r.took[len(r.took)-1]
		if !r.all && last > most*first {
			lost = append(lost, fmt.Sprintf("%s: %v beside the fewest records, %v beside the most", r.name, first, last))
		}
	}
	return lost
}

func (t *scaleTable) print(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "operation\t")
	for _, n := range t.sizes {
		fmt.Fprintf(w, "%d\t", n)
	}
	fmt.Fprintln(w, "growth\t")
	for _, r := range t.rows {
		fmt.Fprintf(w, "%s\t", r.name)
		for _, took := range r.took {
			fmt.Fprintf(w, "%v\t", took.Round(100*time.Nanosecond))
		}
		growth := fmt.Sprintf("%.1f", float64(r.took[len(r.took)-1])/float64(r.took[0]))
		if r.all {
			growth += " (everything)"
		}
		fmt.Fprintf(w, "%s\t\n", growth)
	}
	_ = w.Flush() // to memory
}

// scaleWorld is a platform that is asked without sockets.
type scaleWorld struct {
	ctx context.Context
	srv *mockserver.Server
}

func newScaleWorld(ctx context.Context) *scaleWorld {
	receiver := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return &scaleWorld{ctx, mockserver.New(mockserver.Config{
		SkipValidation: true, RecordEvents: true, Targets: map[string]http.Handler{"receiver.test": receiver},
	})}
}

// scaleError is what the world panics with: operations are only calls.
type scaleError struct{ error }

// do makes a request and returns the answer's body.
func (w *scaleWorld) do(method, path, body string) []byte {
	r := httptest.NewRequestWithContext(w.ctx, method, path, strings.NewReader(body))
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", "Bearer "+mockserver.DefaultToken)
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.srv.ServeHTTP(answer, r)
	if answer.Code >= http.StatusMultipleChoices {
		panic(scaleError{fmt.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)})
	}
	return answer.Body.Bytes()
}

// create makes a resource and returns its id.
func (w *scaleWorld) create(path, member, body string) string {
	var answer map[string]json.RawMessage
	w.must(json.Unmarshal(w.do(http.MethodPost, path, body), &answer))
	return string(bytes.Trim(answer[member], `"`))
}

func (w *scaleWorld) get(format string, args ...any) func(int) {
	path := fmt.Sprintf(format, args...)
	return func(int) { w.do(http.MethodGet, path, "") }
}

func (*scaleWorld) must(err error) {
	if err != nil {
		panic(scaleError{err})
	}
}

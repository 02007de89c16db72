package control

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/webhook"
)

func get(t *testing.T, target string) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
}

// rows returns a list of texts. The id of a row is its text.
func rows(text func(to []byte, row string) []byte) listing[string, string] {
	own := func(row string) string { return row }
	return listing[string, string]{id: own, text: text, record: own}
}

// asked parses the query of a list.
func asked(t *testing.T, params []param, query string) *request {
	t.Helper()
	r := get(t, "/?"+query)
	q, err := route{query: params}.queryOf(r)
	require.NoError(t, err)
	return &request{Request: r, query: q}
}

// A search ends with its request.
func TestSearchOfCanceledRequest(t *testing.T) {
	searched := 0
	l := rows(func(to []byte, id string) []byte {
		searched++
		return lines(to, id)
	})
	l.find = every(func() (int, iter.Seq[string]) { return 0, slices.Values([]string{"3", "2", "1"}) })
	for _, query := range []string{"search=x", "search=x&around=1"} {
		r := asked(t, l.params(), query)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.Request = r.WithContext(ctx)
		_, err := l.page(r)
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, searched, query)
	}
}

func TestListPages(t *testing.T) {
	l := rows(func(to []byte, id string) []byte { return lines(to, "Number", id) })
	l.filters = []filter[string]{{text("not", ""), func(want, id string) bool { return id != want }}}
	l.find = every(func() (int, iter.Seq[string]) { return 0, slices.Values([]string{"5", "4", "3", "2", "1"}) })
	for query, want := range map[string]struct {
		ids   string
		total int
		first int
		more  bool
	}{
		"":                          {"5 4 2 1", 4, 0, false},
		"limit=2":                   {"5 4", 4, 0, true},
		"limit=2&before=4":          {"2 1", 4, 2, false},
		"before=3":                  {"2 1", 4, 2, false}, // the filters exclude row 3
		"before=nothing":            {"", 4, 4, false},
		"search=number+2":           {"2", 1, 0, false},
		"search=number+3":           {"", 0, 0, false},
		"search=NUMBER&limit=3":     {"5 4 2", 4, 0, true},
		"search=2&before=4":         {"2", 1, 0, false},
		"offset=1":                  {"4 2 1", 4, 1, false},
		"offset=2&limit=1":          {"2", 4, 2, true},
		"offset=1&before=5":         {"2 1", 4, 2, false},
		"offset=4":                  {"", 4, 4, false},
		"offset=9":                  {"", 4, 4, false},
		"around=1&limit=2":          {"2 1", 4, 2, false},
		"around=2&limit=2":          {"4 2", 4, 1, true},
		"around=5&limit=2":          {"5 4", 4, 0, true},
		"around=1&limit=1":          {"1", 4, 3, false},
		"around=3&limit=2":          {"5 4", 4, 0, true}, // the filters exclude row 3
		"around=1&limit=1&before=4": {"1", 4, 3, false},
		"around=2&limit=2&before=3": {"2 1", 4, 2, false},
		"around=5&limit=2&before=4": {"2 1", 4, 2, false}, // row 5 is not older than row 4
		"around=x&offset=3":         {"5 4 2 1", 4, 0, false},
		"around=4&search=4&limit=1": {"4", 1, 0, false},
	} {
		out, err := l.page(asked(t, l.params(), query+"&not=3"))
		require.NoError(t, err)
		got := strings.Join(out.Data, " ")
		assert.Equal(t, want.ids, got, query)
		assert.Equal(t, want.total, out.Total, query)
		assert.Equal(t, want.more, out.HasMore, query)
		assert.Equal(t, want.first, out.Offset, query)
	}
}

// A search ignores case and the form of accents. A list can have many records, so the search allocates no memory for
// an ASCII record.
func TestSearch(t *testing.T) {
	l := rows(func(to []byte, text string) []byte { return lines(to, strings.Split(text, "|")...) })
	for _, row := range []struct {
		text, words string
		want        bool
	}{
		{"Ann@Example.COM|Hello", "EXAMPLE hell", true},
		{"ann@example.com|hello", "example bye", false},
		{"ann|hello", "annhello", false}, // no word matches two texts
		{"ann|ÄRGER", "ärger", true},
		{"ann|ärger", "ÄRGER ANN", true},
		{"\u212Aelvin", "kelvin", true}, // a non-ASCII letter with an ASCII lower case
		{"ANN\xff|Bob", "ann bob", true},
		{"Jose\u0301", "JOS\u00c9", true},
		{"jos\u00e9", "jose\u0301", true},
		{"ΟΔΟΣ", "οδος", true}, // the search ends in the final form of sigma
		{"οδος", "ΟΔΟΣ", true},
		{"Straße", "STRASSE", true},
	} {
		assert.Equal(t, row.want, l.search(query{"search": row.words}).matches(row.text), "%q in %q", row.words, row.text)
	}
	l.text = func(to []byte, text string) []byte { return lines(to, text, text) }
	s := l.search(query{"search": "example bye"})
	if n := testing.AllocsPerRun(100, func() { s.matches("Ann@Example.COM") }); n > 0 {
		t.Errorf("%v allocations for each record", n)
	}
}

// Without filters, a list reads at most one row after its page.
func TestListReadsOnlyItsPage(t *testing.T) {
	for query, want := range map[string]struct{ seen, shown int }{
		"limit=2":               {3, 2},
		"limit=2&before=98":     {6, 2},
		"limit=2&offset=10":     {13, 2},
		"limit=2&around=90":     {11 + 12, 2},
		"limit=2&account_id=1":  {100, 2},
		"limit=2&search=number": {100, 2},
	} {
		seen := 0
		l := listing[int, int]{
			find: every(func() (int, iter.Seq[int]) {
				return 100, func(yield func(int) bool) {
					for i := range 100 {
						if seen++; !yield(100 - i) {
							return
						}
					}
				}
			}),
			id:      strconv.Itoa,
			text:    func(to []byte, _ int) []byte { return lines(to, "number") },
			record:  func(i int) int { return i },
			filters: []filter[int]{whereAccount("", func(int) int64 { return 1 })},
		}
		out, err := l.page(asked(t, l.params(), query))
		require.NoError(t, err)
		assert.Equal(t, want.seen, seen, query)
		require.Len(t, out.Data, want.shown, query)
		assert.Equal(t, 100, out.Total, query)
		assert.True(t, out.HasMore, query)
	}
}

func TestBody(t *testing.T) {
	type in struct {
		Name string               `json:"name,omitzero"`
		Mode webhook.HashFunction `json:"mode,omitzero"`
		Need []struct {
			ID string `json:"id"`
		} `json:"need,omitzero"`
	}
	for name, row := range map[string]struct {
		body, media string
		status      int
	}{
		"object":         {`{"name":"x"}`, "application/json", 0},
		"charset":        {`{"name":"x"}`, "Application/JSON; charset=utf-8", 0},
		"nothing":        {"", "", 0},
		"unknown member": {`{"nome":"x"}`, "application/json", 422},
		"two values":     {`{"name":"x"} {}`, "application/json", 400},
		"cut short":      {`{"name":`, "application/json", 400},
		"another media":  {`{"name":"x"}`, "text/plain", 415},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(row.body))
		r.Header.Set("Content-Type", row.media)
		_, err := decodeBody[in](r, requestOf(reflect.TypeFor[in]()))
		status := 0
		if p, ok := err.(*apierror.Error); ok {
			status = p.Status
		}
		if status != row.status || status == 0 && err != nil {
			t.Errorf("%s: %d, %v; want %d", name, status, err, row.status)
		}
	}
}

// The error for a compressed body names the compression, even if the Content-Encoding header is missing.
func TestCompressedBody(t *testing.T) {
	for name, row := range map[string]struct{ encoding, body, want string }{
		"header":         {"gzip", "x", "gzip"},
		"another header": {"BR", "x", "br"},
		"gzip":           {"", "\x1f\x8b\x08\x00", "gzip"},
		"deflate":        {"", "\x78\x9c\x00", "deflate"},
		"zstd":           {"", "\x28\xb5\x2f\xfd\x00", "zstd"},
		"identity":       {"identity", "{}", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(row.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Content-Encoding", row.encoding)
		_, err := decodeBody[emptyBody](r, requestOf(reflect.TypeFor[emptyBody]()))
		if row.want == "" {
			require.NoError(t, err, name)
			continue
		}
		p := &apierror.Error{}
		require.ErrorAs(t, err, &p, name)
		assert.Equal(t, http.StatusUnsupportedMediaType, p.Status, name)
		assert.Contains(t, p.Error(), "must not be compressed, got "+row.want, name)
		if row.encoding != "" {
			_, err = limited(r, 10)
			require.ErrorAs(t, err, &p, name)
		}
	}
}

// A body without a Content-Length is rejected at the limit.
func TestLimited(t *testing.T) {
	for length, want := range map[int]int{10: 0, 11: http.StatusRequestEntityTooLarge} {
		body, err := limited(&http.Request{ContentLength: -1, Body: io.NopCloser(strings.NewReader(strings.Repeat(" ", length)))}, 10)
		require.NoError(t, err)
		status := 0
		if _, err := io.ReadAll(body); err != nil {
			status = bodyProblem(err).Status
		}
		assert.Equal(t, want, status, "%d bytes", length)
	}
}

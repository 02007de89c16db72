package platform

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/api"
)

// TestContactTable compares pages with a filtered and sorted slice, after random changes.
func TestContactTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	statuses := []string{statusActive, statusPending, statusUnsubscribed, statusDeleted, statusSpam, statusBounced}
	table := newContactTable()
	for i := range 5000 {
		if i == 2000 {
			for field := range contactOrders {
				table.inOrder(field) // later changes update it
			}
		}
		switch n := table.all.Len(); {
		case n == 0 || random.IntN(2) == 0:
			table.add(&contact{Contact: api.Contact{
				ID:           int64(3*n + 1),
				Email:        fmt.Sprintf("U%d@example.org", random.IntN(1<<30)),
				Status:       statuses[random.IntN(len(statuses))],
				SubscribedOn: int64(random.IntN(50)),
				Tags:         []string{fmt.Sprint("tag", n%10)},
				Interests:    []string{fmt.Sprint("interest", n%10)},
			}})
		default:
			c := table.all.At(random.IntN(n))
			status, before := statuses[random.IntN(len(statuses))], c.effectiveStatus()
			if table.setStatus(c, status); status != statusDeleted {
				before = status
			}
			require.Equal(t, before, c.effectiveStatus(), "effective status of contact %d with the status %s", c.ID, status)
			table.setDate(c, int64(random.IntN(50)))
			c.Tags = union(c.Tags, []string{fmt.Sprint("tag", random.IntN(5))})
			c.Interests = union(c.Interests, []string{fmt.Sprint("interest", random.IntN(5))})
		}
	}
	for _, sort := range slices.Sorted(maps.Keys(contactOrders)) {
		for _, filter := range []string{
			"", "status:active", "status:unknown", "tag:tag1", "tag:none", "interest:interest2",
			"email:" + strings.ToLower(table.all.At(7).Email),
		} {
			for _, descending := range []bool{false, true} {
				q := query{sort: sort, descending: descending}
				q.field, q.value, _ = strings.Cut(filter, ":")
				want := naive(slices.Collect(table.all.All()), q)
				for page := range int64(len(want)/100 + 2) {
					p := pageRequest{page: page + 1, perPage: 100}
					from, to := p.bounds(len(want))
					got, n := table.page(q, p)
					if n != len(want) || !slices.Equal(got, want[from:to]) {
						t.Fatalf("%+v page %d: got %d of %d, want %d of %d", q, page+1, len(got), n, to-from, len(want))
					}
				}
			}
		}
	}
}

func naive(all []*contact, q query) []*contact {
	var out []*contact
	for _, c := range all {
		keep := q.field == ""
		switch q.field {
		case "status":
			keep = c.Status == q.value
		case "email":
			keep = strings.EqualFold(c.Email, q.value)
		case "tag":
			keep = slices.Contains(c.Tags, q.value)
		case "interest":
			keep = slices.Contains(c.Interests, q.value)
		}
		if keep {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *contact) int {
		switch q.sort {
		case "email":
			return strings.Compare(a.Email, b.Email)
		case "status":
			return strings.Compare(a.Status, b.Status)
		case "subscribed_on":
			return cmp.Compare(a.SubscribedOn, b.SubscribedOn)
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if q.descending {
		slices.Reverse(out)
	}
	return out
}

func TestPageBounds(t *testing.T) {
	for _, row := range []struct {
		page, perPage int64
		n, from, to   int
	}{
		{page: 1, perPage: 50},
		{page: 1, perPage: 50, n: 50, to: 50},
		{page: 2, perPage: 50, n: 50, from: 50, to: 50},
		{page: 2, perPage: 50, n: 51, from: 50, to: 51},
		{page: 1<<63 - 1, perPage: 100, n: 10, from: 10, to: 10},
	} {
		p := pageRequest{page: row.page, perPage: row.perPage}
		from, to := p.bounds(row.n)
		assert.Equal(t, row.from, from, "page %d by %d of %d", row.page, row.perPage, row.n)
		assert.Equal(t, row.to, to, "page %d by %d of %d", row.page, row.perPage, row.n)
	}
}

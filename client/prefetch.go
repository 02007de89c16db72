package client

import "sync"

// prefetch requests pages in advance and returns them in order.
type prefetch[P any] struct {
	get     func(page int64) (P, error)
	next    int64 // the next page to request
	depth   int   // number of pages to prefetch
	counted int64 // the maximum number of items in the responses so far
	queue   []chan fetched[P]
	wg      sync.WaitGroup
}

type fetched[P any] struct {
	page    P
	err     error
	exit    callbackExit
	counted int64 // value of prefetch.counted before the request was sent
}

func (q *prefetch[P]) nextPage() fetched[P] {
	if q.depth == 0 && len(q.queue) == 0 {
		q.next++
		page, err := q.get(q.next - 1)
		return fetched[P]{page: page, err: err, counted: q.counted}
	}
	for len(q.queue) <= q.depth {
		q.request()
	}
	f := <-q.queue[0]
	q.queue = q.queue[1:]
	if !f.exit.none() {
		q.queue = nil // one panic or exit is enough
		f.exit.raise()
	}
	return f
}

func (q *prefetch[P]) request() {
	n, result := q.next, make(chan fetched[P], 1)
	f := fetched[P]{counted: q.counted}
	q.next++
	q.queue = append(q.queue, result)
	q.wg.Go(func() {
		runCallback(func() { f.page, f.err = q.get(n) }, func(c callbackExit) {
			f.exit = c
			result <- f
		})
	})
}

func (q *prefetch[P]) end() {
	q.wg.Wait()
	for _, result := range q.queue {
		(<-result).exit.raise()
	}
}

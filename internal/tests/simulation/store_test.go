package simulation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/emailplatform/webhook"
)

// store is the database that the replicas share, and the effects of what they did. The database itself does not fail.
type store struct {
	w *world

	mu      sync.Mutex
	locks   map[string]*life // the owners of keys that are being handled
	handled map[string]bool
	effects map[string]int
}

// of returns the store as a life of a process sees it.
func (s *store) of(p *process, l *life) webhook.Once {
	if s.w.plan.Store == InMemory {
		return webhook.NewMemoryOnce(webhook.MemoryOnceOptions{})
	}
	return &session{s, p, l}
}

// affect does what the function is there for.
func (s *store) affect(ctx context.Context, key string) {
	if tx, ok := ctx.Value(txKey{}).(*int); ok {
		*tx++
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effects[key]++
}

// session is a process's connection to the database.
type session struct {
	*store
	p *process
	l *life
}

type txKey struct{}

func (s *session) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if handled, err := s.begin(ctx, key); handled || err != nil {
		return false, err
	}
	defer s.free(key)
	tx := new(int)
	if err := fn(context.WithValue(ctx, txKey{}, tx)); err != nil {
		return true, err
	}
	name := fmt.Sprintf("commit %s %s %d", s.p.name, key, s.l.n)
	time.Sleep(s.w.chance.brief(name))
	return true, s.commit(ctx, key, *tx)
}

func (s *session) begin(ctx context.Context, key string) (handled bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch owner := s.locks[key]; {
	case !s.l.lives():
		return false, errDead
	case s.handled[key]:
		return true, nil
	case owner != nil && owner.lives():
		return false, webhook.ErrInFlight
	}
	s.locks[key] = s.l
	return false, nil
}

// commit remembers the key, in a transaction with the effects, and only for those who live and wait for it.
func (s *session) commit(ctx context.Context, key string, effects int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.l.lives() || s.locks[key] != s.l {
		return errDead // the transaction has ended with the connection
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.handled[key] = s.w.plan.Store != forgetful
	s.effects[key] += effects
	return nil
}

// free unlocks the key. The lock of a process that died has no effect.
func (s *session) free(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locks[key] == s.l {
		delete(s.locks, key)
	}
}

package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// issued is a token that a source has returned.
type issued struct {
	life    time.Duration // 0 has no end, and less than 0 is a wrong clock
	at      time.Time
	revoked bool
}

func (i issued) expired() bool { return i.life > 0 && time.Since(i.at) >= i.life }

// tokenModel is a platform with a source of tokens. The source succeeds, fails or
// hangs at random, and the platform revokes tokens. It checks each call of the source
// and each request against the documentation of [TokenSource].
type tokenModel struct {
	t *testing.T
	c *Client

	mu      sync.Mutex
	random  *rand.Rand
	life    time.Duration
	takes   time.Duration
	fails   bool
	ignores bool      // its context
	busy    bool      // the source is being called
	failed  time.Time // end of the last call, if it failed
	refused bool      // a request since the last call of the source
	tokens  []issued
}

var errVault = errors.New("the vault is sealed")

// requestsKey marks the context of a call with its number of requests.
type requestsKey struct{}

func (m *tokenModel) fetch(ctx context.Context) (Token, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy {
		m.t.Error("the source is called concurrently")
	}
	last, valid := m.current()
	background := valid && !m.refused
	if background {
		if left := time.Until(last.at.Add(last.life)); m.failed.IsZero() && (last.life == 0 || left > min(last.life/10, time.Minute)) {
			m.t.Errorf("called %v before the end of a token that lives for %v", left, last.life)
		}
		if rest := last.at.Add(last.life).Sub(m.failed); !m.failed.IsZero() && time.Since(m.failed) < max(rest/2, time.Second) {
			m.t.Errorf("called again %v after a failure, %v before the end of the token", time.Since(m.failed), rest)
		}
	}
	m.busy, m.refused = true, false
	takes, fails, life, start := m.takes, m.fails, m.life, time.Now()
	if m.ignores {
		ctx = context.WithoutCancel(ctx)
	}
	m.mu.Unlock()
	var err error
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		err = ctx.Err()
	}
	m.mu.Lock()
	if err != nil && background && time.Since(start) < time.Minute {
		m.t.Errorf("canceled after %v, although the token expires soon", time.Since(start))
	}
	m.busy = false
	if fails {
		err = errVault
	}
	if err != nil {
		m.failed = time.Now()
		return Token{}, err
	}
	m.failed = time.Time{}
	m.tokens = append(m.tokens, issued{life: life, at: time.Now()})
	token := Token{Value: "token-" + strconv.Itoa(len(m.tokens)-1)}
	if life != 0 {
		token.Expiry = time.Now().Add(life)
	}
	return token, nil
}

// current returns the last token unless it has expired.
func (m *tokenModel) current() (issued, bool) {
	if len(m.tokens) == 0 {
		return issued{}, false
	}
	last := m.tokens[len(m.tokens)-1]
	return last, last.life >= 0 && !last.expired()
}

func (m *tokenModel) answer(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*r.Context().Value(requestsKey{}).(*int)++
	i, err := strconv.Atoi(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer token-"))
	switch {
	case err != nil || m.tokens[i].expired():
		m.t.Errorf("a request has the token %q, which has expired", r.Header.Get("Authorization"))
	case m.tokens[i].revoked:
		m.refused = true
		return respond(401, `{}`), nil
	}
	return respond(200, `{"template_id": 1}`), nil
}

// call makes a call. If the current token is valid, the call must succeed at once.
func (m *tokenModel) call(wait time.Duration, valid bool) {
	requests, start := 0, time.Now()
	ctx, cancel := context.WithTimeout(context.WithValue(m.t.Context(), requestsKey{}, &requests), wait)
	defer cancel()
	_, err := m.c.Templates.Get(ctx, 1)
	took := time.Since(start)
	if known := err == nil || errors.Is(err, errVault) || errors.Is(err, ErrUnauthorized) || errors.Is(err, context.DeadlineExceeded); !known ||
		took > wait || requests > 2 || valid && (err != nil || took > 0 || requests != 1) {
		m.t.Errorf("%v after %v of %v, %d requests; valid token: %v", err, took, wait, requests, valid)
	}
}

// step changes the source or the platform, and makes some calls at the same time.
func (m *tokenModel) step(calls *sync.WaitGroup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	choose := func(all ...time.Duration) time.Duration { return all[m.random.IntN(len(all))] }
	switch m.random.IntN(4) {
	case 0:
		m.life = choose(0, 2*time.Second, 100*time.Second, time.Hour, -time.Minute)
	case 1:
		m.fails, m.takes = m.random.IntN(2) == 0, choose(0, time.Second, 50*time.Second, time.Hour)
		m.ignores = m.takes < time.Hour && m.random.IntN(2) == 0
	case 2:
		for i := range m.tokens {
			m.tokens[i].revoked = true
		}
	}
	last, valid := m.current()
	for range m.random.IntN(4) {
		wait := choose(time.Second, 30*time.Second, time.Hour)
		calls.Go(func() { m.call(wait, valid && !last.revoked) })
	}
}

// pause returns up to an hour, often a part of the remaining life of the token.
func (m *tokenModel) pause() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, valid := m.current(); valid && last.life > 0 && m.random.IntN(2) == 0 {
		return max(1, time.Duration(m.random.Float64()*float64(time.Until(last.at.Add(last.life)))))
	}
	return 1 << m.random.IntN(43)
}

// TestTokenModel makes random calls with random sources, and checks that each client
// recovers.
func TestTokenModel(t *testing.T) {
	for seed := range uint64(500) {
		synctest.Test(t, func(t *testing.T) {
			m := &tokenModel{t: t, random: rand.New(rand.NewPCG(seed, 7)), life: time.Hour}
			m.c = newBubbleClient(t, m.answer, func(cfg *Config) { cfg.Token, cfg.TokenSource = "", m.fetch })
			var calls sync.WaitGroup
			for range 40 {
				m.step(&calls)
				time.Sleep(m.pause())
				synctest.Wait()
			}
			calls.Wait()
			synctest.Wait()
			m.mu.Lock()
			m.fails, m.takes, m.life = false, 0, time.Hour
			m.mu.Unlock()
			time.Sleep(2 * time.Hour) // until a call of the source has ended
			var requests int
			if _, err := m.c.Templates.Get(context.WithValue(t.Context(), requestsKey{}, &requests), 1); err != nil || requests > 2 {
				t.Errorf("the client does not recover: %v after %d requests", err, requests)
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"expvar"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// issuer issues expiring tokens and accepts the last two.
type issuer struct {
	mu       sync.Mutex
	lifetime time.Duration // lifetime of each token; 0: no expiry
	takes    time.Duration
	broken   error
	issued   int
	asked    []time.Duration // times of the calls, since start
	start    time.Time
	before   string // previous token
	valid    string
	rejected int
}

func (i *issuer) fetch(ctx context.Context) (Token, error) {
	select {
	case <-time.After(i.takes):
	case <-ctx.Done():
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = append(i.asked, time.Since(i.start))
	if err := cmp.Or(i.broken, ctx.Err()); err != nil {
		return Token{}, err
	}
	i.issued++
	i.before, i.valid = i.valid, fmt.Sprintf("token-%d", i.issued)
	t := Token{Value: i.valid}
	if i.lifetime != 0 {
		t.Expiry = time.Now().Add(i.lifetime)
	}
	return t, nil
}

func (i *issuer) respond(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if token := r.Header.Get("Authorization"); token != "Bearer "+i.valid && token != "Bearer "+i.before {
		i.rejected++
		return respond(401, `{}`), nil
	}
	return respond(200, `{"template_id": 1}`), nil
}

// expiring runs f in a synctest bubble. The function get calls the platform with a token from i.
func expiring(t *testing.T, i *issuer, f func(t *testing.T, get func() error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		i.start = time.Now()
		c := newBubbleClient(t, i.respond, withSource(i.fetch))
		f(t, func() error {
			_, err := c.Templates.Get(t.Context(), 1)
			return err
		})
	})
}

// TestTokensReplacedBeforeExpiry: the client refreshes a token before the expiry, a minute or a tenth of the lifetime
// earlier, whichever is shorter. With one call per second for hours, no request is therefore rejected.
func TestTokensReplacedBeforeExpiry(t *testing.T) {
	for lifetime, want := range map[time.Duration][]time.Duration{
		time.Hour:         {0, 59 * time.Minute, 118 * time.Minute},
		100 * time.Second: {0, 90 * time.Second, 180 * time.Second},
		0:                 {0},
	} {
		i := &issuer{lifetime: lifetime}
		expiring(t, i, func(t *testing.T, get func() error) {
			for time.Since(i.start) <= want[len(want)-1]+time.Second {
				require.NoError(t, get())
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if !slices.Equal(i.asked, want) || i.rejected > 0 {
				t.Errorf("a lifetime of %v: fetched after %v, want %v; %d requests rejected", lifetime, i.asked, want, i.rejected)
			}
		})
	}
}

// TestTokenRefreshFails: while the source fails, the valid token stays in use, and the client calls the source again
// after half of the remaining lifetime. Calls fail only after the token has expired.
func TestTokenRefreshFails(t *testing.T) {
	i := &issuer{lifetime: time.Hour}
	expiring(t, i, func(t *testing.T, get func() error) {
		require.NoError(t, get())
		i.broken = errors.New("the vault is sealed")
		for time.Since(i.start) < time.Hour {
			require.NoError(t, get(), "after %v", time.Since(i.start))
			time.Sleep(250 * time.Millisecond)
		}
		synctest.Wait()
		n := len(i.asked)
		assert.GreaterOrEqual(t, n, 5)
		assert.LessOrEqual(t, n, 10)
		assert.Equal(t, 30*time.Second, i.asked[2]-i.asked[1])
		for _, at := range i.asked[3:] {
			if k := slices.Index(i.asked, at); at-i.asked[k-1] < time.Second {
				t.Errorf("fetched again within a second: %v", i.asked)
			}
		}
		for range 2 {
			err := get()
			assert.ErrorIs(t, err, i.broken, "after the refresh")
			assert.Zero(t, i.rejected, "after the refresh")
		}
		i.broken = nil
		assert.NoError(t, get())
	})
}

// TestTokenRefreshHangs: while the token is valid, no call waits for a source that hangs. Calls that need a new token
// wait for at most Config.Timeout.
func TestTokenRefreshHangs(t *testing.T) {
	i := &issuer{lifetime: time.Hour}
	expiring(t, i, func(t *testing.T, get func() error) {
		require.NoError(t, get())
		i.takes = 24 * time.Hour
		for time.Since(i.start) < time.Hour {
			before := time.Now()
			err := get()
			require.NoError(t, err, "after %v", before.Sub(i.start))
			require.Zero(t, time.Since(before), "after %v", before.Sub(i.start))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute) // until the calls of the source have ended
		synctest.Wait()
		before := time.Now()
		err := get()
		assert.ErrorIs(t, err, context.DeadlineExceeded, "after the token has expired")
		assert.Equal(t, time.Minute, time.Since(before), "after the token has expired")
		i.takes = 0
		if err := get(); err != nil || i.rejected > 0 {
			t.Errorf("%v, %d requests rejected", err, i.rejected)
		}
	})
}

// TestTokenSourceIgnoresContext: if a call to the source hangs, it delays only the calls that wait for it, not later
// ones. At most ten calls to the source hang at the same time.
func TestTokenSourceIgnoresContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, asked, hangs := make(chan struct{}), 0, false
		tokens := newTokens("", func(context.Context) (Token, error) {
			asked++
			if hangs {
				<-end
			}
			return Token{Value: "t", Expiry: time.Now().Add(time.Hour)}, nil
		}, time.Minute)
		get := func() error {
			_, err := tokens.get(t.Context(), nil)
			synctest.Wait()
			return err
		}
		require.NoError(t, get())
		hangs = true
		for range 20 {
			time.Sleep(time.Hour)
			start := time.Now()
			err := get()
			require.ErrorIs(t, err, errSourceHangs)
			assert.LessOrEqual(t, time.Since(start), time.Minute+time.Second)
		}
		assert.Equal(t, 1+10, asked)
		close(end)
		synctest.Wait()
		hangs = false
		require.NoError(t, get())
		time.Sleep(time.Hour)
		require.NoError(t, get())
		hangs, end = true, make(chan struct{}) // one call hangs, and the next call gets a token
		time.Sleep(time.Hour)
		require.ErrorIs(t, get(), errSourceHangs)
		hangs = false
		require.NoError(t, get())
		close(end)
	})
}

// TestTokenSourcePanicsInBackground: the next call panics with the same value.
func TestTokenSourcePanicsInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		tokens := newTokens("", func(context.Context) (Token, error) {
			if asked++; asked == 2 {
				panic("the vault is on fire")
			}
			return Token{Value: "t", Expiry: time.Now().Add(time.Hour)}, nil
		}, time.Minute)
		get := func() (panicked any) {
			defer func() { panicked = recover() }()
			g, err := tokens.get(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, "t", g.token)
			synctest.Wait()
			return nil
		}
		for i, want := range []any{nil, nil, "the vault is on fire", nil} {
			if got := get(); got != want {
				t.Errorf("call %d: panic %v, want %v", i, got, want)
			}
			if i == 0 {
				time.Sleep(59*time.Minute + 30*time.Second)
			}
		}
		if asked != 3 {
			t.Errorf("called the source %d times, want 3", asked)
		}
	})
}

// TestExpiredTokens: if the source returns an expired token, the calls that waited for the token use it, because the
// local clock may be wrong. Later calls do not use the token.
func TestExpiredTokens(t *testing.T) {
	i := &issuer{lifetime: -time.Minute}
	expiring(t, i, func(t *testing.T, get func() error) {
		for range 3 {
			require.NoError(t, get())
		}
		assert.Equal(t, 3, i.issued)
		assert.Zero(t, i.rejected)
	})
}

// TestSourceCallsItsOwnClient: a token source that calls its own client fails instead of waiting forever.
func TestSourceCallsItsOwnClient(t *testing.T) {
	for name, rejected := range map[string]bool{"first token": false, "token after 401": true} {
		synctest.Test(t, func(t *testing.T) {
			var own, other *Client
			valid, call := "a", false
			respond := func(r *http.Request) (*http.Response, error) {
				if r.Header.Get("Authorization") != "Bearer "+valid {
					return respond(401, `{}`), nil
				}
				return respond(200, `{"template_id": 1}`), nil
			}
			source := func(of **Client) TokenSource {
				return func(ctx context.Context) (Token, error) {
					if call {
						if _, err := (*of).Templates.Get(ctx, 1); err != nil {
							return Token{}, err
						}
					}
					return Token{Value: valid}, nil
				}
			}
			own = newBubbleClient(t, respond, withSource(source(&own)))
			around := newBubbleClient(t, respond, withSource(source(&other)))
			other = newBubbleClient(t, respond, withSource(source(&around)))
			for _, c := range []*Client{own, around} {
				if rejected {
					call, valid = false, "a"
					if _, err := c.Templates.Get(t.Context(), 1); err != nil {
						t.Error(err)
					}
					valid = "b"
				}
				call = true
				if _, err := c.Templates.Get(t.Context(), 1); !errors.Is(err, errOwnSource) {
					t.Errorf("%s: got %v", name, err)
				}
				call = false
				if _, err := c.Templates.Get(t.Context(), 1); err != nil {
					t.Errorf("%s, next call: %v", name, err)
				}
			}
		})
	}
}

// TestEncodersHideSecrets: no encoder writes a secret. Encoders for YAML and TOML call MarshalText, and encoders for
// CBOR and MessagePack call MarshalBinary; without these methods, they would write the exported fields.
func TestEncodersHideSecrets(t *testing.T) {
	secret := NewSecret(testToken)
	values := []any{
		secret,
		Webhook{Secret: secret},
		[]Webhook{{Secret: secret}},
		Token{Value: testToken},
		Config{Token: testToken, BaseURL: "https://x.example?key=" + testToken},
	}
	for _, v := range values {
		pointer := reflect.New(reflect.TypeOf(v))
		pointer.Elem().Set(reflect.ValueOf(v))
		for _, v := range []any{v, pointer.Interface(), struct{ V any }{v}} {
			hidesToken(t, v)
			encoders := map[string]func() ([]byte, error){
				"json": func() ([]byte, error) { return json.Marshal(v) },
				"xml":  func() ([]byte, error) { return xml.Marshal(v) },
				"gob": func() ([]byte, error) {
					var b bytes.Buffer
					err := gob.NewEncoder(&b).Encode(v)
					return b.Bytes(), err
				},
				"expvar": func() ([]byte, error) { return []byte(expvar.Func(func() any { return v }).String()), nil },
			}
			if m, ok := v.(encoding.TextMarshaler); ok {
				encoders["text"] = m.MarshalText
			}
			if m, ok := v.(encoding.BinaryMarshaler); ok {
				encoders["binary"] = m.MarshalBinary
			}
			for name, encode := range encoders {
				out, err := encode()
				assert.False(t, bytes.Contains(out, []byte(testToken)), "%s of %T", name, v)
				assert.NotContains(t, fmt.Sprint(err), testToken, "%s of %T", name, v)
			}
		}
	}
}

// Types with exported secret fields need both methods.
var _ = []interface {
	encoding.TextMarshaler
	encoding.BinaryMarshaler
}{Token{}, Config{}}

// TestTokenString: a printed token contains only its expiry.
func TestTokenString(t *testing.T) {
	with, without := Token{Value: testToken, Expiry: time.Unix(0, 0).UTC()}.String(), Token{Value: testToken}.String()
	assert.Contains(t, with, "1970-01-01T00:00:00Z")
	assert.Equal(t, "client.Token{}", without)
	assert.Equal(t, without, fmt.Sprint(Token{Value: testToken}))
}

// TestTokenReplacedWithoutCallers: a source call that started before the expiry continues even if no caller waits.
func TestTokenReplacedWithoutCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		tokens := newTokens("", func(ctx context.Context) (Token, error) {
			if asked++; asked == 2 {
				select {
				case <-time.After(50 * time.Second):
				case <-ctx.Done():
					return Token{}, ctx.Err()
				}
			}
			return Token{Value: fmt.Sprint("t", asked), Expiry: time.Now().Add(time.Hour)}, nil
		}, time.Minute)
		for _, then := range []time.Duration{59*time.Minute + 30*time.Second, 31 * time.Second} { // until the refresh starts, then until the expiry
			_, err := tokens.get(t.Context(), nil)
			require.NoError(t, err)
			time.Sleep(then)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := tokens.get(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that left: %v", err)
		}
		g, err := tokens.get(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, "t2", g.token)
	})
}

// TestTokenSharedByWaiters: cancellation of one caller does not cancel the source for the other callers.
func TestTokenSharedByWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		tokens := newTokens("", func(ctx context.Context) (Token, error) {
			asked.Add(1)
			select {
			case <-time.After(time.Second):
				return Token{Value: "t"}, nil
			case <-ctx.Done():
				return Token{}, ctx.Err()
			}
		}, 0)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := tokens.get(ctx, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("the canceled caller: %v", err)
			}
		})
		synctest.Wait()
		for range 5 {
			wg.Go(func() {
				g, err := tokens.get(t.Context(), nil)
				require.NoError(t, err, "a waiting caller")
				assert.Equal(t, "t", g.token, "a waiting caller")
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if asked.Load() != 1 {
			t.Errorf("%d calls of the source, want 1", asked.Load())
		}
	})
}

// TestTokenSourceFailsForAll: 100 concurrent calls share one failure of the token source, whether they wait for the
// first token or for a new token after a 401. If the source returns the rejected token again, this counts as a
// failure.
func TestTokenSourceFailsForAll(t *testing.T) {
	broken := errors.New("the vault is sealed")
	for name, tc := range map[string]struct {
		tokens []string // the first tokens of the source
		want   error
		apart  time.Duration // delay between calls; calls that start after 1 s get their 401s one by one
		asked  int
	}{
		"at once":             {nil, broken, 10 * time.Millisecond, 1},
		"after a 401":         {[]string{"a"}, broken, 20 * time.Millisecond, 2},
		"with the same token": {[]string{"a", "a", "a"}, ErrUnauthorized, 5 * time.Millisecond, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
				time.Sleep(time.Second)
				return respond(401, ""), nil
			}, withSource(func(context.Context) (Token, error) {
				if asked++; asked == 1 && tc.want == broken {
					time.Sleep(time.Second)
				}
				if asked <= len(tc.tokens) {
					return Token{Value: tc.tokens[asked-1]}, nil
				}
				return Token{}, broken
			}))
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * tc.apart)
					if _, err := c.Templates.Get(t.Context(), 1); !errors.Is(err, tc.want) {
						t.Errorf("%s: got %v, want %v", name, err, tc.want)
					}
				})
			}
			wg.Wait()
			if asked != tc.asked {
				t.Errorf("%s: %d calls of the source, want %d", name, asked, tc.asked)
			}
			_, err := c.Templates.Get(t.Context(), 1)
			assert.ErrorIs(t, err, tc.want, name)
			assert.Equal(t, tc.asked+1, asked, name)
		})
	}
}

// TestTokenSourceCanceled: if the source fails because all callers were canceled, a later call does not get that error.
func TestTokenSourceCanceled(t *testing.T) {
	for name, hangs := range map[string]int{"first token": 1, "after a 401": 2} { // the number of the call that hangs
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			tokens := newTokens("", func(ctx context.Context) (Token, error) {
				if asked++; asked == hangs {
					<-ctx.Done()
					time.Sleep(time.Second)
					return Token{}, ctx.Err()
				}
				return Token{Value: fmt.Sprintf("token-%d", asked)}, nil
			}, 0)
			var rejected *cachedToken
			if hangs == 2 {
				rejected = check.Need(tokens.get(t.Context(), nil))(t)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := tokens.get(ctx, rejected); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the canceled caller: %v", name, err)
			}
			want := fmt.Sprintf("token-%d", hangs+1)
			g, err := tokens.get(t.Context(), rejected)
			require.NoError(t, err, name)
			assert.Equal(t, want, g.token, name)
			assert.Equal(t, hangs+1, asked, name)
		})
	}
}

// duringGet is a context that calls the function act when tokens.get reads the value of sourceKey.
type duringGet struct {
	context.Context
	act func()
}

func (c duringGet) Value(key any) any {
	if _, ok := key.(sourceKey); ok {
		c.act()
	}
	return c.Context.Value(key)
}

// TestTokenReplacedConcurrently: a call uses a token that another call stored after the first check.
func TestTokenReplacedConcurrently(t *testing.T) {
	tokens := newTokens("", func(context.Context) (Token, error) {
		t.Error("the token source was called")
		return Token{}, nil
	}, 0)
	ctx := duringGet{t.Context(), func() { tokens.setCurrent(&cachedToken{token: "t"}) }}
	g, err := tokens.get(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, "t", g.token)
}

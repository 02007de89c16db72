package redisstore

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/webhook"
)

// kinds contains a constructor for each kind of client. The cluster has one server.
var kinds = map[string]func(redis.UniversalOptions) redis.UniversalClient{
	"RESP3": func(o redis.UniversalOptions) redis.UniversalClient { return redis.NewClient(o.Simple()) },
	"RESP2": func(o redis.UniversalOptions) redis.UniversalClient {
		o.Protocol = 2
		return redis.NewClient(o.Simple())
	},
	"Ring": func(o redis.UniversalOptions) redis.UniversalClient {
		return redis.NewRing(&redis.RingOptions{
			Addrs: map[string]string{"one": o.Addrs[0]}, Username: o.Username, Password: o.Password, DB: o.DB,
			HeartbeatFrequency: time.Hour,
		})
	},
	"Cluster": func(o redis.UniversalOptions) redis.UniversalClient {
		c := o.Cluster()
		c.ClusterSlots = func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: o.Addrs[0]}}}}, nil
		}
		return redis.NewClusterClient(c)
	},
}

// TestSetupError: Do and Acquire return the error of a server that rejects a connection. Do returns this error even if
// it occurs after the call to the function.
func TestSetupError(t *testing.T) {
	t.Parallel()
	admin := newRedis(t)
	addr := admin.Options().Addr
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := rand.Text()
			acl := func(rules ...any) {
				require.NoError(t, admin.Do(t.Context(), append([]any{"ACL", "SETUSER", user}, rules...)...).Err())
			}
			acl("on", ">secret", "~*", "&*", "+@all")
			t.Cleanup(func() { admin.Do(context.WithoutCancel(t.Context()), "ACL", "DELUSER", user) })
			open := func(change func(*redis.UniversalOptions)) redis.UniversalClient {
				o := redis.UniversalOptions{Addrs: []string{addr}, Username: user, Password: "secret"}
				change(&o)
				rdb := kind(o)
				t.Cleanup(func() { _ = rdb.Close() })
				return rdb
			}
			rejected := func(rdb redis.UniversalClient, want string) {
				t.Helper()
				ran, err := NewOnce(rdb, OnceOptions{Logger: quiet()}).Do(t.Context(), rand.Text(), succeed)
				assert.False(t, ran)
				assert.ErrorContains(t, err, want)
				_, err = NewLookupLimiter(rdb, LimiterOptions{Logger: quiet()}).Acquire(t.Context(), rand.Text())
				assert.ErrorContains(t, err, want)
			}
			rejected(open(func(o *redis.UniversalOptions) { o.Password = "wrong" }), "WRONGPASS")
			if name != "Cluster" { // a cluster has one database
				rejected(open(func(o *redis.UniversalOptions) { o.DB = 1 << 20 }), "DB index is out of range")
			}
			rdb, key := open(func(*redis.UniversalOptions) {}), rand.Text()
			acl("-@write") // the scripts run, but cannot write
			rejected(rdb, "redisstore: ")
			acl("+@all")
			ran, err := NewOnce(rdb, OnceOptions{Logger: quiet()}).Do(t.Context(), key, func(ctx context.Context) error {
				acl("resetpass", ">changed")
				return admin.ClientKillByFilter(ctx, "USER", user).Err()
			})
			assert.True(t, ran)
			assert.ErrorContains(t, err, "WRONGPASS")
			_, err = NewOnce(admin, OnceOptions{}).Do(t.Context(), key, succeed)
			assert.ErrorIs(t, err, webhook.ErrInFlight, "until the lease expires")
		})
	}
}

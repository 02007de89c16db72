// Package handled contains the table of handled events and the SQL statements
// of pgstore.
package handled

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Schema creates the table if it does not exist. A row with its share of the
// indexes takes about 150 bytes. The keys are hashes, so they have the same
// length and need no collation. The lock is necessary because concurrent CREATE
// TABLE IF NOT EXISTS statements can fail.
const Schema = `SELECT pg_advisory_xact_lock(hashtext('emailplatform_handled'));
CREATE TABLE IF NOT EXISTS emailplatform_handled (
	key        bytea PRIMARY KEY, -- SHA-256 of the event's key
	handled_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS emailplatform_handled_at ON emailplatform_handled USING brin (handled_at);
`

// The statements for one event. Lock and Known are separate statements,
// because in READ COMMITTED each statement has its own snapshot. The snapshot
// of a single statement would be older than the lock and could miss a key, so
// the event would be handled again.
//
// Lock uses an advisory lock, because an INSERT of the same key would wait
// until the other transaction ends.
//
// The parameter $2 of Lock sets a setting that exists until the transaction
// ends. If a handler ended the transaction, Remember inserts NULL instead of the
// key and fails.
//
// Lock also returns why Remember would fail, or an empty text. Otherwise each
// delivery on a standby would call the handler. An INSERT without rows would
// check the same, but it would lock the table while the handler runs.
const (
	Lock = `SELECT pg_try_advisory_xact_lock($1::bigint), CASE
	WHEN current_setting('transaction_read_only')::bool THEN 'the transaction is read-only, for example on a standby'
	WHEN NOT has_any_column_privilege('emailplatform_handled', 'INSERT') THEN 'the role must have the privilege INSERT on emailplatform_handled'
	ELSE '' END FROM set_config('emailplatform.tx', $2::text, true)`
	Known    = `SELECT EXISTS (SELECT FROM emailplatform_handled WHERE key = $1::bytea)`
	Remember = `INSERT INTO emailplatform_handled (key)
	VALUES (CASE current_setting('emailplatform.tx', true) WHEN $2::text THEN $1::bytea END)`
	Guarded = `SELECT coalesce(current_setting('emailplatform.tx', true) = $1::text, false)`
)

// RememberAndCommit returns Remember and COMMIT for one round trip. The text
// contains the values, because a query with several statements cannot have
// parameters.
func RememberAndCommit(sum []byte, guard string) string {
	return fmt.Sprintf(`INSERT INTO emailplatform_handled (key)
	VALUES (CASE current_setting('emailplatform.tx', true) WHEN '%s' THEN decode('%x', 'hex') END); COMMIT`, guard, sum)
}

// Explain returns ErrManaged if Remember failed because the handler ended the
// transaction.
func Explain(err error) error {
	var e interface{ SQLState() string } // implemented by the errors of pgx and lib/pq
	if errors.As(err, &e) && e.SQLState() == "23502" && strings.Contains(err.Error(), "emailplatform_handled") {
		return ErrManaged
	}
	return err
}

// Forget deletes a batch of events that were handled more than $1 seconds ago.
// Several processes can run it concurrently.
const Forget = `DELETE FROM emailplatform_handled WHERE ctid = ANY (ARRAY(
	SELECT ctid FROM emailplatform_handled WHERE handled_at < now() - make_interval(secs => $1::float8)
	LIMIT 5000 FOR UPDATE SKIP LOCKED))`

const (
	batch = 5000 // rows in a batch, so the locks last only milliseconds
	// least is the minimum age of a key that can be deleted. The platform's last
	// attempt to deliver an event is 7 hours and 13 minutes after its first
	// attempt.
	least = 8 * time.Hour
)

// ForgetAll deletes all batches. The function exec runs [Forget] and returns the
// number of deleted rows. ForgetAll returns an error if events of this age may
// still be delivered.
func ForgetAll(olderThan time.Duration, exec func(seconds float64) (int64, error)) (deleted int64, err error) {
	if olderThan < least {
		return 0, fmt.Errorf("olderThan must be at least %v, got %v, because the platform retries deliveries for more than 7 hours",
			least, olderThan)
	}
	for {
		n, err := exec(olderThan.Seconds())
		deleted += n
		if err != nil || n < batch {
			return deleted, err
		}
	}
}

// CleanUp is the timeout for a rollback.
const CleanUp = 5 * time.Second

// ErrManaged means that a handler ended the transaction itself.
var ErrManaged = errors.New("the handler must not end the transaction: return nil to commit, or an error to roll back")

// Key returns the stored hash of an event's key and the number of its lock.
// Different keys can have the same number. This only delays one of the events.
func Key(key string) (sum []byte, lock int64) {
	s := sha256.Sum256([]byte(key))
	return s[:], int64(binary.BigEndian.Uint64(s[:]))
}

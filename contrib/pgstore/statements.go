package pgstore

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Schema creates the table emailplatform_handled in the first schema of the search
// path, if the table does not exist. Run Schema before the first event, or copy the
// statements into your migrations. Each event takes about 150 bytes, including its
// share of the indexes.
//
// The keys are hashes, so they have the same length and need no collation. The
// statements acquire a lock, because concurrent CREATE TABLE IF NOT EXISTS statements
// can fail.
const Schema = `SELECT pg_advisory_xact_lock(hashtext('emailplatform_handled'));
CREATE TABLE IF NOT EXISTS emailplatform_handled (
	key        bytea PRIMARY KEY, -- SHA-256 of the event's key
	handled_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS emailplatform_handled_at ON emailplatform_handled USING brin (handled_at);
`

// These statements handle one event. lockKey and knowsKey are separate statements,
// because in READ COMMITTED each statement has its own snapshot. In a single statement,
// the snapshot would be older than the lock and could miss a key that was committed in
// between, so the event would be handled again.
//
// lockKey uses an advisory lock, because it reports immediately that another delivery of
// the same event holds the lock. An INSERT of the key before the handler would instead
// wait until the transaction of the other delivery ends, and would occupy a connection
// in the meantime.
//
// After the handler, insertAndCommit inserts the key and commits. A handler must not end
// the transaction itself, because then its writes would be committed without the key. If
// a handler has done so, insertAndCommit must fail. Therefore, lockKey stores a random
// text (parameter $2 of the statement) in the setting emailplatform.tx, which PostgreSQL
// resets when the transaction ends. If insertAndCommit does not find the text in the
// setting, it inserts NULL instead of the key, and PostgreSQL rejects NULL in a primary
// key.
//
// If insertAndCommit cannot succeed, for example on a standby, lockKey returns the reason, so the
// handler is not called. Without this check, each delivery would call the handler, although the
// commit then fails. Instead of this check, lockKey could run an INSERT of no rows. This would
// detect the same problems, but it would lock the table while the handler runs.
const (
	lockKey = `SELECT pg_try_advisory_xact_lock($1::bigint), CASE
	WHEN current_setting('transaction_read_only')::bool THEN 'the transaction is read-only, for example on a standby'
	WHEN NOT has_any_column_privilege('emailplatform_handled', 'INSERT') THEN 'the role must have the privilege INSERT on emailplatform_handled'
	ELSE '' END FROM set_config('emailplatform.tx', $2::text, true)`
	knowsKey = `SELECT EXISTS (SELECT FROM emailplatform_handled WHERE key = $1::bytea)`
)

// insertAndCommit returns a text with an INSERT of the key and a COMMIT, which together
// need only one round trip. The text contains the values, because a query with several
// statements cannot have parameters.
func insertAndCommit(sum []byte, guard string) string {
	return fmt.Sprintf(`INSERT INTO emailplatform_handled (key)
	VALUES (CASE current_setting('emailplatform.tx', true) WHEN '%s' THEN decode('%x', 'hex') END); COMMIT`, guard, sum)
}

// explain returns ErrTxManaged if insertAndCommit failed because the handler ended the
// transaction.
func explain(err error) error {
	var e interface{ SQLState() string } // implemented by the errors of pgx and lib/pq
	if errors.As(err, &e) && e.SQLState() == "23502" && strings.Contains(err.Error(), "emailplatform_handled") {
		return ErrTxManaged
	}
	return err
}

// forgetBatch deletes a batch of events that were handled more than $1 seconds ago.
// Several processes can run it concurrently.
const forgetBatch = `DELETE FROM emailplatform_handled WHERE ctid = ANY (ARRAY(
	SELECT ctid FROM emailplatform_handled WHERE handled_at < now() - make_interval(secs => $1::float8)
	LIMIT 5000 FOR UPDATE SKIP LOCKED))`

// hashKey returns the stored hash of an event's key and the number of its lock. If the
// keys of two concurrent events have the same number, one event is only delayed.
func hashKey(key string) (sum []byte, lock int64) {
	s := sha256.Sum256([]byte(key))
	return s[:], int64(binary.BigEndian.Uint64(s[:]))
}

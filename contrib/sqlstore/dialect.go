package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"example.com/emailplatform/mailroom"
)

// Dialect identifies the database system, which determines the SQL statements of this package.
type Dialect int

// The values of [Dialect].
const (
	PostgreSQL Dialect = iota + 1
	SQLite             // from version 3.35
)

const schema = `CREATE TABLE IF NOT EXISTS emailplatform_items (
	kind TEXT NOT NULL, item_key TEXT NOT NULL, ref TEXT NOT NULL,
	due bigint, value text NOT NULL, PRIMARY KEY (kind, item_key));
CREATE INDEX IF NOT EXISTS emailplatform_items_due ON emailplatform_items (kind, due, item_key) WHERE due IS NOT NULL;
CREATE INDEX IF NOT EXISTS emailplatform_items_ref ON emailplatform_items (kind, ref) WHERE ref <> '';
`

// Schema returns the statements that [Store.Create] runs, for use in migrations. They end
// in semicolons.
func (d Dialect) Schema() string {
	if d == SQLite {
		return schema
	}
	return "SELECT pg_advisory_xact_lock(hashtext('emailplatform_items'));\n" + // concurrent CREATEs can fail
		strings.ReplaceAll(schema, "TEXT", `text COLLATE "C"`)
}

// Rows is the result of a statement, such as *sql.Rows.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Query runs a statement with the placeholders $1, $2 and so on, in this order. SQLite
// accepts them, too.
type Query func(ctx context.Context, statement string, args ...any) (Rows, error)

// Tx returns a [mailroom.Tx] that runs its statements with query. It is for a
// [mailroom.Store] that does not use database/sql. The function query must run all
// statements in one transaction. For SQLite, the transaction must begin with the write
// lock, because a transaction that has already read cannot wait for the lock.
func (d Dialect) Tx(query Query) mailroom.Tx { return &itemTx{d, query} }

// itemTx is a [mailroom.Tx].
type itemTx struct {
	dialect Dialect
	query   Query
}

// queryEach runs a statement and calls f for each row.
func (t *itemTx) queryEach(ctx context.Context, f func(Rows) error, statement string, args ...any) (n int, err error) {
	defer func() { err = wrapError(err) }()
	rows, err := t.query(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for ; rows.Next(); n++ {
		if err := f(rows); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

// exec runs a statement and returns the number of changed rows. It adds RETURNING, because
// a Query has no other result.
func (t *itemTx) exec(ctx context.Context, statement string, args ...any) (n int, err error) {
	return t.queryEach(ctx, func(Rows) error { return nil }, statement+" RETURNING 1", args...)
}

// find returns the items that match the condition where. In PostgreSQL, it appends the
// clause lock, for example FOR UPDATE, to the query. In SQLite, it omits the clause,
// because the transaction has the write lock.
func (t *itemTx) find(ctx context.Context, where, lock string, args ...any) (found []mailroom.Item, err error) {
	if t.dialect == SQLite {
		lock = ""
	}
	_, err = t.queryEach(ctx, func(rows Rows) error {
		var it mailroom.Item
		var due sql.NullInt64
		err := rows.Scan(&it.Kind, &it.Key, &it.Ref, &due, &it.Value)
		it.Due = dueTime(due)
		found = append(found, it)
		return err
	}, "SELECT kind, item_key, ref, due, value FROM emailplatform_items WHERE "+where+lock, args...)
	return found, err
}

func dueTime(due sql.NullInt64) (t time.Time) {
	if due.Valid {
		t = time.UnixMilli(due.Int64)
	}
	return t
}

// Get implements [mailroom.Tx].
func (t *itemTx) Get(ctx context.Context, kind, key string) (it mailroom.Item, found bool, err error) {
	items, err := t.find(ctx, "kind = $1 AND item_key = $2", " FOR UPDATE", kind, key)
	if err != nil || len(items) == 0 {
		return it, false, err
	}
	return items[0], true, nil
}

// Due implements [mailroom.Tx].
func (t *itemTx) Due(ctx context.Context, kind string, now time.Time, limit int) ([]mailroom.Item, error) {
	return t.find(ctx, "kind = $1 AND due <= $2 ORDER BY due, item_key LIMIT $3", " FOR UPDATE SKIP LOCKED", kind, now.UnixMilli(), limit)
}

// CountDue implements [mailroom.Tx].
func (t *itemTx) CountDue(ctx context.Context, kind string, now time.Time) (n int, earliest time.Time, err error) {
	var due sql.NullInt64
	_, err = t.queryEach(ctx, func(rows Rows) error { return rows.Scan(&n, &due) },
		"SELECT count(*), min(due) FROM emailplatform_items WHERE kind = $1 AND due <= $2", kind, now.UnixMilli())
	return n, dueTime(due), err
}

// ByRef implements [mailroom.Tx].
func (t *itemTx) ByRef(ctx context.Context, kind, ref string) ([]mailroom.Item, error) {
	return t.find(ctx, "kind = $1 AND ref = $2 AND ref <> '' ORDER BY item_key LIMIT 100", "", kind, ref)
}

// insert adds an item. If the item already exists, insert runs the argument onConflict, which
// is the end of an ON CONFLICT clause.
func (t *itemTx) insert(ctx context.Context, it mailroom.Item, onConflict string) (changed bool, err error) {
	due := sql.NullInt64{Int64: it.Due.UnixMilli(), Valid: !it.Due.IsZero()}
	n, err := t.exec(ctx, "INSERT INTO emailplatform_items (kind, item_key, ref, due, value) VALUES ($1, $2, $3, $4, $5) "+
		"ON CONFLICT (kind, item_key) DO "+onConflict, it.Kind, it.Key, it.Ref, due, string(it.Value))
	return n > 0, err
}

// Insert implements [mailroom.Tx].
func (t *itemTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	return t.insert(ctx, it, "NOTHING")
}

// Put implements [mailroom.Tx].
func (t *itemTx) Put(ctx context.Context, it mailroom.Item) error {
	_, err := t.insert(ctx, it, "UPDATE SET ref = excluded.ref, due = excluded.due, value = excluded.value")
	return err
}

// Delete implements [mailroom.Tx].
func (t *itemTx) Delete(ctx context.Context, kind, key string) error {
	_, err := t.exec(ctx, "DELETE FROM emailplatform_items WHERE kind = $1 AND item_key = $2", kind, key)
	return err
}

package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mailroom"
)

// Dialect is the SQL of a database.
type Dialect int

// The values of [Dialect].
const (
	PostgreSQL Dialect = iota + 1
	SQLite             // from version 3.35
)

// Schema returns the statements that [Store.Create] runs, for use in migrations. They end
// in semicolons.
func (d Dialect) Schema() string { return strings.Join(d.schema(), ";\n") + ";\n" }

func (d Dialect) schema() []string {
	text, lock := "text", "SELECT 1"
	if d == PostgreSQL {
		text, lock = `text COLLATE "C"`, "SELECT pg_advisory_xact_lock(hashtext('emailplatform_items'))" // concurrent CREATEs can fail
	}
	return []string{
		lock, `CREATE TABLE IF NOT EXISTS emailplatform_items (
			kind ` + text + ` NOT NULL, item_key ` + text + ` NOT NULL, ref ` + text + ` NOT NULL,
			due bigint, value text NOT NULL, PRIMARY KEY (kind, item_key))`,
		`CREATE INDEX IF NOT EXISTS emailplatform_items_due ON emailplatform_items (kind, due, item_key) WHERE due IS NOT NULL`,
		`CREATE INDEX IF NOT EXISTS emailplatform_items_ref ON emailplatform_items (kind, ref) WHERE ref <> ''`,
	}
}

// lock returns the end of a SELECT of rows that the transaction changes.
func (d Dialect) lock(how string) string {
	if d == PostgreSQL {
		return " FOR UPDATE" + how
	}
	return "" // the transaction has the write lock
}

// Named rewrites a statement for SQLite if the database layer of a [Querier] has named
// parameters. It replaces each ? with a name in the given form, such as "{:%s}". It
// returns the new statement and the arguments by name.
func Named(statement, form string, args []any) (string, map[string]any) {
	named := map[string]any{}
	return rebind(statement, func(n int) string {
		name := "a" + strconv.Itoa(n)
		named[name] = args[n-1]
		return fmt.Sprintf(form, name)
	}), named
}

func rebind(statement string, placeholder func(n int) string) string {
	parts := strings.Split(statement, "?")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString(placeholder(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// Rows is the result of a statement, such as *sql.Rows.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Query runs a statement.
type Query func(ctx context.Context, statement string, args ...any) (Rows, error)

// Tx returns the items in a transaction, for a [mailroom.Store] that does not use
// database/sql.
func (d Dialect) Tx(query Query) mailroom.Tx { return &itemTx{d, query} }

// itemTx is a [mailroom.Tx].
type itemTx struct {
	d     Dialect
	query Query
}

// text returns a statement with the placeholders of the dialect.
func (t *itemTx) text(statement string) string {
	if t.d != PostgreSQL {
		return statement
	}
	return rebind(statement, func(n int) string { return "$" + strconv.Itoa(n) })
}

// exec runs a statement and returns the number of changed rows. It adds RETURNING,
// because a Querier can run only statements with a result.
func (t *itemTx) exec(ctx context.Context, statement string, args ...any) (n int, err error) {
	rows, err := t.query(ctx, t.text(statement)+" RETURNING 1", args...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

func (t *itemTx) find(ctx context.Context, where, how string, args ...any) (found []mailroom.Item, err error) {
	rows, err := t.query(ctx, t.text("SELECT kind, item_key, ref, due, value FROM emailplatform_items WHERE "+where)+how, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var it mailroom.Item
		var due sql.NullInt64
		if err := rows.Scan(&it.Kind, &it.Key, &it.Ref, &due, &it.Value); err != nil {
			return nil, err
		}
		if due.Valid {
			it.Due = time.UnixMilli(due.Int64)
		}
		found = append(found, it)
	}
	return found, rows.Err()
}

// Get implements [mailroom.Tx].
func (t *itemTx) Get(ctx context.Context, kind, key string) (mailroom.Item, bool, error) {
	found, err := t.find(ctx, "kind = ? AND item_key = ?", t.d.lock(""), kind, key)
	if err != nil || len(found) == 0 {
		return mailroom.Item{}, false, err
	}
	return found[0], true, nil
}

// Due implements [mailroom.Tx].
func (t *itemTx) Due(ctx context.Context, kind string, now time.Time, limit int) ([]mailroom.Item, error) {
	return t.find(ctx, "kind = ? AND due <= ? ORDER BY due, item_key LIMIT ?", t.d.lock(" SKIP LOCKED"), kind, now.UnixMilli(), limit)
}

// CountDue implements [mailroom.Tx].
func (t *itemTx) CountDue(ctx context.Context, kind string, now time.Time) (n int, earliest time.Time, err error) {
	rows, err := t.query(ctx, t.text("SELECT count(*), min(due) FROM emailplatform_items WHERE kind = ? AND due <= ?"), kind, now.UnixMilli())
	if err != nil {
		return 0, earliest, err
	}
	defer func() { _ = rows.Close() }()
	var due sql.NullInt64
	for rows.Next() {
		err = errors.Join(err, rows.Scan(&n, &due))
	}
	if due.Valid {
		earliest = time.UnixMilli(due.Int64)
	}
	return n, earliest, errors.Join(err, rows.Err())
}

// ByRef implements [mailroom.Tx].
func (t *itemTx) ByRef(ctx context.Context, kind, ref string) ([]mailroom.Item, error) {
	return t.find(ctx, "kind = ? AND ref = ? AND ref <> '' ORDER BY item_key LIMIT 100", "", kind, ref)
}

const insert = "INSERT INTO emailplatform_items (kind, item_key, ref, due, value) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, item_key) DO "

func values(it mailroom.Item) []any {
	due := sql.NullInt64{Int64: it.Due.UnixMilli(), Valid: !it.Due.IsZero()}
	return []any{it.Kind, it.Key, it.Ref, due, string(it.Value)}
}

// Insert implements [mailroom.Tx].
func (t *itemTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	n, err := t.exec(ctx, insert+"NOTHING", values(it)...)
	return n > 0, err
}

// Put implements [mailroom.Tx].
func (t *itemTx) Put(ctx context.Context, it mailroom.Item) error {
	_, err := t.exec(ctx, insert+"UPDATE SET ref = excluded.ref, due = excluded.due, value = excluded.value", values(it)...)
	return err
}

// Delete implements [mailroom.Tx].
func (t *itemTx) Delete(ctx context.Context, kind, key string) error {
	_, err := t.exec(ctx, "DELETE FROM emailplatform_items WHERE kind = ? AND item_key = ?", kind, key)
	return err
}

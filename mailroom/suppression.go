package mailroom

import (
	"context"
	"strings"
)

// Suppress adds an address, or a pattern such as *@example.com or local@*, to the Room's
// suppression list. The Room sends no email to these addresses. You need Suppress only
// for your own entries. The Room itself adds addresses after hard bounces, complaints
// and global unsubscriptions, and when the platform adds an entry to its own suppression
// list.
func (r *Room) Suppress(ctx context.Context, pattern string) error {
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error { return suppress(ctx, tx, pattern, Suppressed) })
}

// Unsuppress removes an address or a pattern from the Room's suppression list. To change
// the platform's list, use [client.SuppressedEmails.Remove].
func (r *Room) Unsuppress(ctx context.Context, pattern string) error {
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		return tx.Delete(ctx, kindSuppressed, storable(normal(pattern)))
	})
}

// Suppression returns the reason why the Room does not send to an address, or "" if it
// does.
func (r *Room) Suppression(ctx context.Context, address string) (reason Reason, err error) {
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		reason, err = suppression(ctx, tx, address)
		return err
	})
	return reason, err
}

func suppress(ctx context.Context, tx Tx, pattern string, reason Reason) error {
	_, err := tx.Insert(ctx, Item{Kind: kindSuppressed, Key: storable(normal(pattern)), Value: encode(reason)})
	return err
}

func suppression(ctx context.Context, tx Tx, address string) (Reason, error) {
	address = normal(address)
	patterns := []string{address}
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		patterns = append(patterns, "*"+address[i:], address[:i]+"@*")
	}
	for _, pattern := range patterns {
		it, found, err := tx.Get(ctx, kindSuppressed, storable(pattern))
		if err != nil {
			return "", err
		}
		if found {
			return decode[Reason](it)
		}
	}
	return "", nil
}

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
	return r.update(ctx, func(s *storeTx) { s.suppress(pattern, Suppressed) })
}

// Unsuppress removes an address or a pattern from the Room's suppression list. To change
// the platform's list, use [client.SuppressedEmails.Remove].
func (r *Room) Unsuppress(ctx context.Context, pattern string) error {
	return r.update(ctx, func(s *storeTx) { s.delete(kindSuppressed, storable(normalizeAddress(pattern))) })
}

// Suppression returns the reason why the Room does not send to an address, or "" if
// the Room sends to it.
func (r *Room) Suppression(ctx context.Context, address string) (reason Reason, err error) {
	err = r.update(ctx, func(s *storeTx) { reason = s.suppression(address) })
	return reason, err
}

func (s *storeTx) suppress(pattern string, reason Reason) {
	s.getOrInsert(Item{Kind: kindSuppressed, Key: storable(normalizeAddress(pattern)), Value: encode(reason)})
}

func (s *storeTx) suppression(address string) Reason {
	address = normalizeAddress(address)
	patterns := []string{address}
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		patterns = append(patterns, "*"+address[i:], address[:i]+"@*")
	}
	for _, pattern := range patterns {
		if it, found := s.get(kindSuppressed, storable(pattern)); found {
			return valueOf[Reason](s, it)
		}
	}
	return ""
}

package client

import "context"

// SuppressedEmails manages the suppression list. The platform does not send email
// to addresses on this list. (Specification: Suppression list entry.)
type SuppressedEmails struct{ x exchange }

// Add adds an address or a pattern, "*@domain" or "local@*", to the suppression
// list. It is idempotent.
func (s *SuppressedEmails) Add(ctx context.Context, email string) (SuppressedEmail, error) {
	return do(ctx, s.x, addSuppressedEmailRequest(suppressedEmailCreate{Email: email}), readSuppressedEmail)
}

package mockserver

import (
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/platform"
)

// Bounce categories (specification, "Email.Bounced"). Only a hard bounce
// changes the contact's status.
const (
	HardBounce              = events.BounceCategoryHard
	SoftBounce              = events.BounceCategorySoft
	MailboxFullBounce       = events.BounceCategoryMailboxFull
	BlockedBounce           = events.BounceCategoryBlocked
	TransientBounce         = events.BounceCategoryTransient
	DNSBounce               = events.BounceCategoryDNSFailure
	AutoReplyBounce         = events.BounceCategoryAutoReply
	ChallengeResponseBounce = events.BounceCategoryChallengeResponse
	AddressChangeBounce     = events.BounceCategoryAddressChange
)

// Bounce simulates a bounce of a message and fires Email.Bounced. Every bounce increases
// the contact's bounce count, and a hard bounce also sets the contact's status to
// bounced. The parameter diagnostic is the response of the receiving server. If it is
// empty or omitted, Bounce uses a typical response for the category. Bounce returns an
// error if the message does not exist or was not sent.
func (s *Server) Bounce(messageID string, category events.BounceCategory, diagnostic ...string) error {
	return prefixed("bounce", s.engine.Platform.Bounce(messageID, category, diagnostic...))
}

// Complain simulates a spam report to a mailbox provider. It sets the contact's
// status to spam, adds the address to the suppression list, and fires
// Email.ReportedAsSpam. Repeated complaints have no effect.
func (s *Server) Complain(messageID, provider string) error {
	return prefixed("complain", s.engine.Platform.Complain(messageID, provider))
}

// Open simulates a recipient opening a message. Each call fires Email.Opened.
func (s *Server) Open(messageID string) error {
	return prefixed("open", s.engine.Platform.Open(messageID))
}

// Click simulates a click on a link in a message. Each call fires
// Email.Clicked.
func (s *Server) Click(messageID, url string) error {
	return prefixed("click", s.engine.Platform.Click(messageID, url))
}

// Unsubscribe simulates that the recipient unsubscribes from the list of the message. It
// fires Contact.Removed and Contact.Unsubscribed and, for a message from the Email API,
// Email.Unsubscribed. If the message was not sent to a contact on a list, Unsubscribe
// returns an error. Repeated calls have no effect.
func (s *Server) Unsubscribe(messageID string) error {
	return prefixed("unsubscribe", s.engine.Platform.Unsubscribe(messageID))
}

// GlobalUnsubscribe simulates that the recipient unsubscribes from all email. It adds
// the address to the suppression list and fires SuppressedEmail.Added. For a message
// from the Email API, it also fires Email.GlobalUnsubscribed. For a message of a
// campaign or a workflow, it unsubscribes the contact and fires Contact.Removed and
// Contact.Unsubscribed. Repeated calls have no effect.
func (s *Server) GlobalUnsubscribe(messageID string) error {
	return prefixed("unsubscribe globally", s.engine.Platform.GlobalUnsubscribe(messageID))
}

// Confirm simulates a click on the link in the confirmation email of a double opt-in, so
// the contact becomes active, and Contact.Added fires. Repeated calls have no effect. If
// the message is not a confirmation email, Confirm returns an error.
func (s *Server) Confirm(messageID string) error {
	return prefixed("confirm", s.engine.Platform.Confirm(messageID))
}

// TestDomain is the domain (mock.test) of the test addresses. Recipients in this
// domain react to each message automatically. The local part of the address selects the
// reaction:
//
//	bounce@           hard bounce; bounce+hb@ … bounce+ac@ in that category
//	complaint@        reports the message as spam
//	error@            makes POST /v2/emails fail with an internal error
//	open@ click@      opens the message; clicks a link
//	unsubscribe@      unsubscribes from the list
//	global-unsubscribe@
//	                  unsubscribes from all email
//
// For more addresses, add a plus sign and any text to the local part:
// complaint+7@, bounce+fm+7@.
const TestDomain = platform.TestDomain

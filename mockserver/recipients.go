package mockserver

import (
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/platform"
)

// HardBounce and the others are the categories of bounces (specification,
// "Email.Bounced"). Only a hard bounce changes the contact's status.
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

// Bounce lets a message bounce, whatever way it was sent, and fires
// Email.Bounced in the shape of that way. A hard bounce makes the contact
// bounced; every bounce counts. diagnostic is what the receiving server says;
// the usual words of the category if left out. It is an error if there is no
// such message or it was not sent.
func (s *Server) Bounce(emailID string, category events.BounceCategory, diagnostic ...string) error {
	return s.env.Platform.Bounce(emailID, category, diagnostic...)
}

// Complain lets the recipient report a message as spam to the named mailbox
// provider. The contact's status becomes spam and the address is suppressed
// before Email.ReportedAsSpam fires. Complaining again changes nothing.
func (s *Server) Complain(emailID, provider string) error {
	return s.env.Platform.Complain(emailID, provider)
}

// Open lets the recipient open a message and fires Email.Opened, every time.
func (s *Server) Open(emailID string) error { return s.env.Platform.Open(emailID) }

// Click lets the recipient follow a link in a message and fires Email.Clicked,
// every time.
func (s *Server) Click(emailID, url string) error { return s.env.Platform.Click(emailID, url) }

// Unsubscribe lets the recipient unsubscribe from the list, by the link or the
// List-Unsubscribe header. It fires Contact.Removed and Contact.Unsubscribed,
// and for a message of the Email API Email.Unsubscribed too. It is an error for
// a message that went to no list contact. Unsubscribing again changes nothing.
func (s *Server) Unsubscribe(emailID string) error { return s.env.Platform.Unsubscribe(emailID) }

// GlobalUnsubscribe lets the recipient unsubscribe from all email. The address
// is suppressed and SuppressedEmail.Added fires. A message of the Email API
// also fires Email.GlobalUnsubscribed and leaves the contact as it is; one of
// a campaign or workflow unsubscribes the contact, which fires Contact.Removed
// and Contact.Unsubscribed. Unsubscribing again changes nothing.
func (s *Server) GlobalUnsubscribe(emailID string) error {
	return s.env.Platform.GlobalUnsubscribe(emailID)
}

// Confirm lets the recipient follow the link in the confirmation email of a
// double opt-in: the contact becomes active, and Contact.Added fires. It is an
// error for any other message. Confirming again changes nothing.
func (s *Server) Confirm(emailID string) error { return s.env.Platform.Confirm(emailID) }

// MagicDomain is the domain (mock.test) of recipients that do something by
// themselves, as soon as a message reaches them. The local part says what:
//
//	bounce@           bounces hard; bounce+hb@ … bounce+ac@ in that category
//	complaint@        reports the message as spam
//	error@            makes POST /v2/emails fail with an internal error
//	open@ click@      opens the message; follows a link in it
//	unsubscribe@      unsubscribes from the list
//	global-unsubscribe@
//	                  unsubscribes from all email
//
// Anything may follow after one more plus sign, so that there is no end of
// such addresses: complaint+7@, bounce+fm+7@.
const MagicDomain = platform.MagicDomain

package control

import (
	"reflect"
	"sync"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/record"
)

// words says what the members mean of the types that are declared elsewhere, by
// the type that has them itself. Types of this package say it in the tag means.
var words = sync.OnceValue(func() map[reflect.Type]map[string]string {
	return map[reflect.Type]map[string]string{
		reflect.TypeFor[record.Message]():  messageWords(),
		reflect.TypeFor[record.Delivery](): deliveryWords(),
		reflect.TypeFor[record.Request]():  requestWords(),
		reflect.TypeFor[record.Fault]():    faultWords(),
		reflect.TypeFor[platform.Record](): {
			"reason": "why it was refused", "error": "why it failed", "links": "the targets of the links in its HTML",
			"events": "about it, the oldest first",
		},
		reflect.TypeFor[record.Header](): {"name": "of the header field", "value": "of the header field"},
		reflect.TypeFor[record.FiredEvent](): {
			"id": "in this journal", "time": "when it fired", "event": "its name",
			"event_id":   "its own id; the general envelope has none",
			"account_id": "the account in which it fired", "message_id": "the message that it is about",
			"recipient": "the address that it is about", "subject": "of the message",
			"body": "as it is delivered", "deliveries": "the ids of its deliveries, one for each webhook that subscribed",
		},
		reflect.TypeFor[record.Attempt](): {
			"time": "when it was made", "status": "of the answer; left out if there was none",
			"response": "the first 4 KiB of the answer's body", "error": "why there was no answer",
			"manual": "asked for by redeliver",
		},
		reflect.TypeFor[delivery.AttemptWire](): {"duration_ms": "how long it took"},
		reflect.TypeFor[delivery.Summary](): {
			"attempts": "the oldest first", "waiting": "what keeps it: `retry`, `rate_limit`, `archived` or `delay`",
			"waiting_until": "until when, if that is known",
		},
		reflect.TypeFor[delivery.Record](): {
			"body": "the same bytes in each attempt", "secret": "to sign with", "hash_function": "to sign with",
			"max_attempts": "how many attempts there will have been at the most",
		},
		reflect.TypeFor[gateway.Summary](): {"duration_ms": "how long it took to answer"},
		reflect.TypeFor[gateway.Record](): {
			"duration_ms": "how long it took to answer", "closest": "the operation that was probably meant, if none takes it",
		},
		reflect.TypeFor[contract.Known](): {"operation": "its `operationId`", "method": "its method", "path": "its path"},
		reflect.TypeFor[fault.Wire]():     {"delay_ms": "waited before anything else, up to 24 hours"},
		reflect.TypeFor[fault.RuleWire](): {"delay_ms": "waited before anything else"},
		reflect.TypeFor[record.FaultRule](): {
			"id": "names the rule", "enabled": "false for one that is switched off", "calls": "how many it was about",
			"hits": "how many it hit",
		},
		reflect.TypeFor[clock.View](): {
			"now": "the time of the platform", "ahead_ms": "how far that is ahead of the real time", "frozen": "whether it stands",
			"next": "what happens next by itself",
		},
		reflect.TypeFor[clock.Due](): {"at": "when", "what": "what it is, such as a retry"},
		reflect.TypeFor[record.Sample](): {
			"event": "its name", "variant": "tells the samples of one event apart", "summary": "what happened",
			"body": "as it is delivered, with a fresh id and the time of now",
		},
		reflect.TypeFor[api.Problem](): {"detail": "the mistakes"},
		reflect.TypeFor[api.ProblemDetail](): {
			"loc": "where: body, path, query or header, then names of members and places in arrays", "msg": "what is wrong",
			"type": "the rule that is broken",
		},
	}
})

func messageWords() map[string]string {
	return map[string]string{
		"id": "of the message", "sent_by": "what sent it", "account_id": "the account that sent it",
		"time": "when it was sent, to the second", "from_name": "the sender's name", "from_email": "the sender's address",
		"to": "the recipient's address", "subject": "its subject", "html": "its HTML, as the recipient gets it",
		"text": "its text, as the recipient gets it", "headers": "more header fields",
		"type": "marketing or transactional, of the Email API", "template_id": "the template that it was made of",
		"list_id": "the recipient's list", "contact_id": "the recipient's contact", "campaign_id": "the campaign that sent it",
		"workflow_id": "the workflow that sent it", "confirmation": "that it is the confirmation email of a double opt-in",
		"status": "delivered or bounced; rejected or error if it was not sent", "bounce_category": "how it bounced",
		"opens": "how often it was opened", "clicks": "how often a link was followed",
		"unsubscribed": "by it, from the list", "global_unsubscribed": "by it, from all email",
		"reported_as_spam": "by its recipient",
	}
}

func deliveryWords() map[string]string {
	return map[string]string{
		"id": "of the delivery", "event_id": "the event's own id; the general envelope has none", "event": "the event's name",
		"message_id": "the message that the event is about", "recipient": "the address that it is about", "subject": "of the message",
		"account_id": "the webhook's account", "webhook_id": "the webhook; empty for an event of one's own to a URL",
		"url": "where it goes", "signature": "the header `X-Service-Signature`", "state": "where it stands",
		"created_at": "when the event fired", "next_attempt": "when it is tried again", "fault": "the id of the rule that hit it",
	}
}

func requestWords() map[string]string {
	return map[string]string{
		"id": "as in the header `X-Request-Id` of the answer", "time": "when it came", "method": "its method",
		"path": "its path, as it was sent", "query": "its query, as it was sent",
		"operation": "its `operationId`; left out if no operation takes it", "account_id": "the access token's account",
		"status": "of the answer; 0 if the connection was lost", "fault": "the id of the rule that hit it",
		"body": "up to 64 KiB", "answer": "of an error, up to 4 KiB",
		"unknown_members":    "places in the body that the API does not know, such as `contacts[].emial`; 20 at the most",
		"unknown_parameters": "names in the query that the API does not know; 20 at the most",
	}
}

func faultWords() map[string]string {
	return map[string]string{
		"operation": "an `operationId` of the API's document", "method": "a method that an operation takes",
		"path":  "a path; segments that are * or in braces stand for any one",
		"event": "the event name of deliveries; * is any", "webhook_id": "the webhook of deliveries",
		"nth": "hits the nth one alone, counted from 1", "every": "hits each one whose number is divisible by it",
		"probability": "hits by chance, from 0 to 1", "times": "ends the rule after so many hits; 0 is never",
		"action": "what happens", "after_acting": "carries the request out first, and then loses its answer",
		"status": "of the answer, 200 to 599", "retry_after": "the header `Retry-After`",
		"body":     "of the answer, or the end of the error of `internal_error`",
		"location": "where a `redirect` points to", "size": "of an `oversize` body in bytes, up to 1 GiB; 0 is 64 MiB",
	}
}

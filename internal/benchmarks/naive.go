package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"
)

var errRefused = errors.New("refused")

// naiveVerify is what one writes from the specification's example.
func naiveVerify(key, body []byte, signature string) error {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(body)
	if got, err := base64.StdEncoding.DecodeString(signature); err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		return errRefused
	}
	return nil
}

// event is the envelope, with all members that any shape in the mix has.
type event[Data any] struct {
	ID        string    `json:"id"`
	Event     string    `json:"event"`
	AccountID int64     `json:"account_id"`
	IP        string    `json:"ip"`
	User      eventUser `json:"user"`
	CreatedOn int64     `json:"created_on"`
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

type eventUser struct {
	ID        *int64  `json:"id"`
	Email     *string `json:"email"`
	AccountID *int64  `json:"account_id"`
}

type bounced struct {
	Bounce             *bounceDetail  `json:"bounce"`
	Campaign           *reference     `json:"campaign"`
	TransactionalEmail *transactional `json:"transactional_email"`
	Contact            *person        `json:"contact"`
	List               *reference     `json:"list"`
	Segment            *reference     `json:"segment"`
	Context            *origin        `json:"context"`
	EventTime          int64          `json:"event_time"`
	Email              any            `json:"email"` // an object or an address

	// The flat copy that a bounce of a transactional email has as well.
	ID                any        `json:"id"`
	SentID            any        `json:"sent_id"`
	SenderName        string     `json:"sender_name"`
	SenderEmail       string     `json:"sender_email"`
	SourceIP          string     `json:"source_ip"`
	EnvelopeFrom      string     `json:"envelope_from"`
	DSNMessage        string     `json:"dsn_message"`
	AdditionalHeaders []nameable `json:"additional_headers"`
}

type campaignBounced struct {
	Bounce   *bounceDetail `json:"bounce"`
	Campaign *reference    `json:"campaign"`
	Contact  *person       `json:"contact"`
	List     *reference    `json:"list"`
	Segment  *reference    `json:"segment"`
	Context  *origin       `json:"context"`
}

type apiBounced struct {
	EventTime int64      `json:"event_time"`
	Email     any        `json:"email"`
	Contact   *person    `json:"contact"`
	List      *reference `json:"list"`
}

type complained struct {
	FBL      *feedbackLoop `json:"fbl"`
	Campaign *reference    `json:"campaign"`
	Contact  *person       `json:"contact"`
	List     *reference    `json:"list"`
	Segment  *reference    `json:"segment"`
	Context  *origin       `json:"context"`
}

type removed struct {
	Contact *person    `json:"contact"`
	List    *reference `json:"list"`
	Context *origin    `json:"context"`
}

type suppressed struct {
	SuppressedEmail *suppressedEmail `json:"suppressedEmail"`
}

// anyData is the data of every shape in the mix.
type anyData struct {
	bounced
	FBL             *feedbackLoop    `json:"fbl"`
	SuppressedEmail *suppressedEmail `json:"suppressedEmail"`
}

type bounceDetail struct {
	ID         *int64 `json:"id"`
	DSNMessage string `json:"dsn_message"`
	SourceIP   string `json:"source_ip"`
	Category   string `json:"category"`
}

type transactional struct {
	ID                string     `json:"id"`
	Sender            nameEmail  `json:"sender"`
	EnvelopeFrom      string     `json:"envelope_from"`
	AdditionalHeaders []nameable `json:"additional_headers"`
}

type feedbackLoop struct {
	Provider string `json:"provider"`
	SourceIP string `json:"source_ip"`
}

type suppressedEmail struct {
	Email string `json:"email"`
}

type nameEmail struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

type nameable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type reference struct {
	Type  string  `json:"type"`
	ID    any     `json:"id"` // a number here and a string there
	Name  *string `json:"name"`
	Query any     `json:"query"`
}

type person struct {
	ID               any        `json:"id"`
	Email            string     `json:"email"`
	Status           *string    `json:"status"`
	SubscribedOn     int64      `json:"subscribed_on"`
	CustomAttributes []nameable `json:"custom_attributes"`
	Tags             []string   `json:"tags"`
	Interests        []string   `json:"interests"`
	LastBounceType   string     `json:"last_bounce_type"`
	BouncesCount     int64      `json:"bounces_count"`
}

type origin struct {
	Timestamp *int64  `json:"timestamp"`
	UserAgent *string `json:"user_agent"`
	IP        *string `json:"ip"`
}

// onePass decodes into one struct that has every member.
func onePass(body []byte) error {
	var e event[anyData]
	return json.Unmarshal(body, &e)
}

// twoPasses decodes the envelope, and then the data in the type for its name:
// bounces of every shape in the same one.
func twoPasses(body []byte) error {
	var e event[json.RawMessage]
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	switch e.Event {
	case "Email.Bounced":
		return json.Unmarshal(e.Data, new(bounced))
	case "Email.ReportedAsSpam":
		return json.Unmarshal(e.Data, new(complained))
	case "Contact.Removed":
		return json.Unmarshal(e.Data, new(removed))
	case "SuppressedEmail.Added":
		return json.Unmarshal(e.Data, new(suppressed))
	}
	return errRefused
}

// byShape decodes the envelope, finds out which shape a bounce has, and then
// decodes its data in the type for that: what this SDK does in one go.
func byShape(body []byte) error {
	var e event[json.RawMessage]
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	switch e.Event {
	case "Email.Bounced":
		var members struct {
			Campaign           json.RawMessage `json:"campaign"`
			Automation         json.RawMessage `json:"automation"`
			TransactionalEmail json.RawMessage `json:"transactional_email"`
		}
		if err := json.Unmarshal(e.Data, &members); err != nil {
			return err
		}
		switch {
		case members.Campaign != nil:
			return json.Unmarshal(e.Data, new(campaignBounced))
		case members.TransactionalEmail != nil:
			return json.Unmarshal(e.Data, new(bounced))
		default:
			return json.Unmarshal(e.Data, new(apiBounced))
		}
	case "Email.ReportedAsSpam":
		return json.Unmarshal(e.Data, new(complained))
	case "Contact.Removed":
		return json.Unmarshal(e.Data, new(removed))
	case "SuppressedEmail.Added":
		return json.Unmarshal(e.Data, new(suppressed))
	}
	return errRefused
}

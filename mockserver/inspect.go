package mockserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/events"
)

// Text is bytes that are text: JSON shows them as a string.
type Text []byte

// MarshalText implements [encoding.TextMarshaler].
func (t Text) MarshalText() ([]byte, error) { return t, nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *Text) UnmarshalText(b []byte) error {
	*t = slices.Clone(b)
	return nil
}

// Request is a request that the API got.
type Request struct {
	ID        string        `json:"id"` // as in the header X-Request-Id of the answer
	Time      time.Time     `json:"time"`
	Duration  time.Duration `json:"duration_ns"`
	Method    string        `json:"method"`
	Path      string        `json:"path"`
	Query     string        `json:"query,omitzero"`
	Operation string        `json:"operation,omitzero"` // the operationId; empty if no operation takes such a request
	AccountID int64         `json:"account_id,omitzero"`
	Status    int           `json:"status"`          // as the client got it; 0 if the connection was lost
	Fault     string        `json:"fault,omitzero"`  // the id of the fault that hit it
	Body      Text          `json:"body,omitzero"`   // up to 64 KiB
	Answer    Text          `json:"answer,omitzero"` // of an error, up to 4 KiB
}

// What the log of requests holds: the latest ones.
const (
	maxRequests    = 10_000
	maxRequestBody = 64 << 10
	maxRequestLog  = 32 << 20 // bytes of what clients sent and of the answers
)

type requestLog struct {
	mu    sync.Mutex
	all   []Request
	bytes int
}

func (l *requestLog) add(r Request) {
	if len(r.Body) > maxRequestBody {
		r.Body = slices.Clone(r.Body[:maxRequestBody])
	}
	// They share the memory of the whole request line, which is not counted.
	r.Method, r.Path, r.Query = strings.Clone(r.Method), strings.Clone(r.Path), strings.Clone(r.Query)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r)
	l.bytes += r.size()
	for len(l.all) > maxRequests || l.bytes > maxRequestLog {
		l.bytes -= l.all[0].size()
		l.all[0] = Request{}
		l.all = l.all[1:]
	}
}

// size is how many bytes of a request the client decides.
func (r Request) size() int {
	return len(r.Method) + len(r.Path) + len(r.Query) + len(r.Body) + len(r.Answer)
}

func (l *requestLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.bytes = nil, 0
}

// Requests returns the requests that the API has answered, the oldest first:
// the latest 10,000, and no more than 32 MiB of them.
func (s *Server) Requests() []Request {
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	out := slices.Clone(s.requests.all)
	for i := range out {
		out[i].Body = slices.Clone(out[i].Body)
		out[i].Answer = slices.Clone(out[i].Answer)
	}
	return out
}

// Header is a header field of a message.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Message is an email that was sent, as its recipient got it.
type Message struct {
	ID         string             `json:"id"`
	SentBy     events.SendingType `json:"sent_by"`
	AccountID  int64              `json:"account_id"`
	Time       time.Time          `json:"time"` // to the second
	FromName   string             `json:"from_name,omitzero"`
	FromEmail  string             `json:"from_email"`
	To         string             `json:"to"`
	Subject    string             `json:"subject"`
	HTML       string             `json:"html,omitzero"`
	Text       string             `json:"text,omitzero"`
	Headers    []Header           `json:"headers"`
	Type       string             `json:"type,omitzero"` // marketing or transactional, of the Email API
	TemplateID int64              `json:"template_id,omitzero"`
	ListID     int64              `json:"list_id,omitzero"`
	ContactID  int64              `json:"contact_id,omitzero"`
	CampaignID int64              `json:"campaign_id,omitzero"`
	WorkflowID int64              `json:"workflow_id,omitzero"`
	// Confirmation says that this is the confirmation email of a double opt-in.
	Confirmation bool `json:"confirmation,omitzero"`
	// What became of it.
	Status             string                `json:"status"` // delivered or bounced
	BounceCategory     events.BounceCategory `json:"bounce_category,omitzero"`
	Opens              int64                 `json:"opens"`
	Clicks             int64                 `json:"clicks"`
	Unsubscribed       bool                  `json:"unsubscribed"`
	GlobalUnsubscribed bool                  `json:"global_unsubscribed"`
	ReportedAsSpam     bool                  `json:"reported_as_spam"`
}

// Outbox returns the messages that were sent, of all accounts and all sending
// types, the oldest first. Submissions that were refused are not among them.
func (s *Server) Outbox() []Message {
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	out := make([]Message, len(s.platform.outbox))
	for i, m := range s.platform.outbox {
		out[i] = m.rendered()
	}
	return out
}

func (m *message) rendered() Message {
	out := Message{
		ID:                 m.ID,
		SentBy:             m.SentBy,
		AccountID:          m.AccountID,
		Time:               time.Unix(m.SubmittedOn, 0).UTC(),
		FromName:           m.From.Name,
		FromEmail:          m.From.Email,
		To:                 m.To,
		Subject:            m.subject(),
		HTML:               mergeHTML(m.Content.HTML, m.value),
		Text:               mergeText(m.Content.Text, m.value),
		Type:               m.Type,
		TemplateID:         m.Content.TemplateID,
		ListID:             m.ListID,
		ContactID:          m.ContactID,
		CampaignID:         m.CampaignID,
		WorkflowID:         m.WorkflowID,
		Confirmation:       m.SentBy == events.SendingTypeWorkflow && m.WorkflowID == 0,
		Status:             m.Status,
		Opens:              m.Opens,
		Clicks:             m.Clicks,
		Unsubscribed:       m.Unsubscribed,
		GlobalUnsubscribed: m.GlobalUnsubscribed,
		ReportedAsSpam:     m.ReportedAsSpam,
	}
	if m.Bounce != nil {
		out.BounceCategory = m.Bounce.Category
	}
	out.Headers = m.headers(out)
	return out
}

// headers are the header fields of the message, those of the request last.
func (m *message) headers(out Message) []Header {
	from := out.FromEmail
	if out.FromName != "" {
		name := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(out.FromName) // %q would escape letters too
		from = fmt.Sprintf(`"%s" <%s>`, name, out.FromEmail)
	}
	headers := []Header{
		{"Date", out.Time.Format(time.RFC1123Z)},
		{"From", from},
		{"To", out.To},
		{"Subject", out.Subject},
		{"Message-ID", "<" + m.ID + "@platform.example>"},
	}
	if m.ContactID != 0 && m.SentBy != events.SendingTypeTransactional && !out.Confirmation {
		headers = append(headers, Header{"List-Unsubscribe", "<https://platform.example/unsubscribe/" + m.ID + ">"})
	}
	for _, h := range m.Headers {
		headers = append(headers, Header(h))
	}
	return headers
}

// Attempt is one attempt to deliver an event.
type Attempt struct {
	Time     time.Time     `json:"time"`
	Duration time.Duration `json:"duration_ns"`
	Status   int           `json:"status,omitzero"`   // of the answer; 0 if there was none
	Response string        `json:"response,omitzero"` // the first 4 KiB of the answer's body
	Error    string        `json:"error,omitzero"`
	Manual   bool          `json:"manual,omitzero"` // asked for by Redeliver
}

// Delivery is one event on its way to one webhook.
type Delivery struct {
	ID          string        `json:"id"`
	EventID     string        `json:"event_id,omitzero"` // empty in the general envelope, which has none
	Event       string        `json:"event"`
	AccountID   int64         `json:"account_id"`
	WebhookID   string        `json:"webhook_id"`
	URL         string        `json:"url"`
	Body        Text          `json:"body"`      // the same bytes in each attempt
	Signature   string        `json:"signature"` // the header X-Service-Signature
	State       DeliveryState `json:"state"`
	Attempts    []Attempt     `json:"attempts"`
	CreatedAt   time.Time     `json:"created_at"`
	NextAttempt time.Time     `json:"next_attempt,omitzero"` // set while it waits for a time
	Fault       string        `json:"fault,omitzero"`        // the id of the fault that hit it

	webhookID int64
	duplicate bool      // deliver it once more
	tries     int       // since the delivery was made or asked for again
	manual    bool      // the next attempt was asked for
	started   time.Time // the attempt under way, if one is
}

// Deliveries returns what was delivered to webhooks or is to be, in the order
// in which the events fired.
func (s *Server) Deliveries() []Delivery {
	d := s.platform.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Delivery, len(d.journal))
	for i, delivery := range d.journal {
		out[i] = *delivery
		out[i].Body = slices.Clone(delivery.Body)
		out[i].Attempts = append([]Attempt{}, delivery.Attempts...)
	}
	return out
}

// Redeliver puts a delivery into its webhook's queue once more, whatever
// became of it, with the same bytes. If it fails, the retries begin anew. It is
// an error if there is no such delivery or it is being attempted right now.
func (s *Server) Redeliver(deliveryID string) error {
	return s.platform.deliver.redeliver(deliveryID)
}

// Wait returns when every queue is idle, which is when nothing happens any more
// before more time passes: every campaign whose time has come is sent, and
// every event that fired has been attempted, unless its webhook is archived or
// its rate limit used up. What has failed and waits to be tried again, what
// waits for its rate limit and campaigns scheduled for later do not keep Wait;
// for those, let time pass (in a bubble of testing/synctest that costs
// nothing) or use [Server.Drain].
//
// It fails if ctx ends first.
func (s *Server) Wait(ctx context.Context) error {
	for {
		s.platform.startDueCampaigns()
		s.platform.deliver.startDue()
		busy, err := s.platform.work.wait(ctx)
		if err != nil {
			return fmt.Errorf("mockserver: wait: deliveries are under way: %w", err)
		}
		if !busy {
			return nil
		}
	}
}

// Drain returns when every delivery has been delivered or given up, however
// long its retries and rate limits take. Deliveries to archived webhooks do not
// count: nothing happens to them. It fails, saying what is left, if ctx ends
// first or the server is closed.
func (s *Server) Drain(ctx context.Context) error {
	for {
		if err := s.Wait(ctx); err != nil {
			return err
		}
		wait, what := s.platform.deliver.next(time.Now())
		if what == "" {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.platform.deliver.ctx.Done():
			timer.Stop()
			return fmt.Errorf("mockserver: drain: %s are lost: %w", what, errClosed)
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("mockserver: drain: %s wait for %v more: %w", what, wait.Round(time.Millisecond), ctx.Err())
		}
	}
}

// work counts what is under way.
type work struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil if nobody waits
}

func (w *work) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
}

func (w *work) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n--; w.n == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// finish waits for what is under way, however long it takes.
func (w *work) finish() { _, _ = w.wait(context.Background()) }

// wait returns when nothing is under way, and whether something was.
func (w *work) wait(ctx context.Context) (busy bool, err error) {
	w.mu.Lock()
	if w.n == 0 {
		w.mu.Unlock()
		return false, nil
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

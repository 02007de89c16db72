package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

func TestOneClick(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "decision/37/one-click", "unsubscribed/link-or-header")
		s := l.sendByEmailAPI()
		link := l.unsubscribeLink(l.lastMessage())
		l.visit(http.MethodGet, link, "").ok()
		want(l, "status", l.visit(http.MethodPost, link, "List-Unsubscribe=Yes").status, 422)
		want(l, "status", l.status(s.list, s.contact), "active")
		l.visit(http.MethodPost, link, "List-Unsubscribe=One-Click").ok()
		want(l, "status", l.status(s.list, s.contact), "unsubscribed")
	})(t)
}

// unsubscribeLink returns the link in the List-Unsubscribe header.
func (l *lab) unsubscribeLink(m mockserver.Message) string {
	l.Helper()
	for _, h := range m.Headers {
		if h.Name == "List-Unsubscribe" {
			return strings.Trim(h.Value, "<>")
		}
	}
	l.Fatalf("the message has no List-Unsubscribe header: %v", m.Headers)
	return ""
}

// visit requests a link without a token, with a form if it is not empty.
func (l *lab) visit(method, link, form string) reply {
	l.Helper()
	req, err := http.NewRequestWithContext(l.Context(), method, link, strings.NewReader(form))
	l.must(err)
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return l.send(req)
}

func TestUnsubscribeHeader(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "decision/37/header")
		const fields = " List-Unsubscribe List-Unsubscribe-Post"
		for _, row := range []struct {
			send   func(*lab) sent
			fields string
		}{
			{(*lab).sendByCampaign, fields},
			{(*lab).sendByEmailAPI, fields},
			{(*lab).sendByTransactional, ""},
			{(*lab).sendByOptIn, ""},
			{(*lab).sendByWorkflow, fields},
		} {
			row.send(l)
			got := ""
			for _, h := range l.lastMessage().Headers {
				if strings.HasPrefix(h.Name, "List-") {
					got += " " + h.Name
				}
			}
			want(l, string(l.lastMessage().SentBy), got, row.fields)
		}
	})(t)
}

func TestSuppressedBeforeComplaint(t *testing.T) {
	for _, sending := range sendings {
		t.Run(sending.name, inLab(func(l *lab) {
			proves(l, "states/contact/complaint/suppressed-first")
			s := sending.send(l)
			l.listen("Email.ReportedAsSpam")
			suppressed := false
			l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { suppressed = l.isSuppressed(ada) })
			l.complain(s.id)
			l.fires("Email.ReportedAsSpam")
			want(l, "suppressed when the event came", suppressed, true)
		}))
	}
}

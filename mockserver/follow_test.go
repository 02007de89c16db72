package mockserver_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// dice performs random operations.
type dice struct {
	probe

	random *rand.Rand
	emails []string
}

func (d *dice) one(of []string) string {
	if len(of) == 0 {
		return "none"
	}
	return of[d.random.IntN(len(of))]
}

func (d *dice) ids(path, member string) (out []string) {
	items, _ := d.do("GET", path, nil).object["data"].([]any)
	for _, item := range items {
		out = append(out, fmt.Sprint(item.(map[string]any)[member]))
	}
	return out
}

func (d *dice) list() string { return "/lists/" + d.one(d.ids("/lists", "list_id")) }

func (d *dice) contact() string {
	list := d.list()
	return list + "/contacts/" + d.one(d.ids(list+"/contacts", "id"))
}

func (d *dice) address() string { return fmt.Sprintf("user%d@example.org", d.random.IntN(40)) }

// act performs one operation, which may fail.
func (d *dice) act() {
	const sender = `"sender":{"email":"s@example.com"},"content":{"subject":"x","text":"x"}`
	email := d.one(d.emails)
	acts := []func(){
		func() { d.do("POST", "/lists", `{"name":"x"}`) },
		func() { d.do("POST", d.list()+"/accept-policy", nil) },
		func() { d.do("POST", d.list()+"/contacts", `{"email":"`+d.address()+`","tags":["new"]}`) },
		func() { d.do("POST", d.list()+"/contacts?send_double_opt_in=true", `{"email":"`+d.address()+`"}`) },
		func() {
			d.do("POST", d.list()+"/contacts/import",
				`{"resubscribe":true,"contacts":[{"email":"`+d.address()+`"},{"email":"`+d.address()+`","interests":["go"]}]}`)
		},
		func() { d.do("PATCH", d.contact(), `{"custom_attributes":[{"name":"city","value":"Paris"}]}`) },
		func() { d.do("DELETE", d.contact(), nil) },
		func() { d.do("POST", d.contact()+"/unsubscribe", nil) },
		func() {
			list := d.list()
			d.do("POST", list+"/contacts/tag", `{"contact_ids":[`+d.one(d.ids(list+"/contacts", "id"))+`],"tags":["late"]}`)
		},
		func() { d.do("POST", "/templates", `{"name":"x","content":{"html":"<p>"}}`) },
		func() { d.do("DELETE", "/templates/"+d.one(d.ids("/templates", "template_id")), nil) },
		func() { d.do("POST", "/suppressed-emails", `{"email":"`+d.address()+`"}`) },
		func() { d.do("DELETE", "/suppressed-emails/"+d.address(), nil) },
		func() {
			d.do("POST", "/campaigns", `{"name":"x","list_id":`+strings.TrimPrefix(d.list(), "/lists/")+`,`+sender+`}`)
		},
		func() { d.do("POST", "/campaigns/"+d.one(d.ids("/campaigns", "campaign_id"))+"/schedule", nil) },
		func() {
			d.do("POST", "/webhooks", `{"url":"http://app.test/","events":["Contact.Added","Email.Opened","Email.Bounced"]}`)
		},
		func() { d.do("POST", "/webhooks/"+d.one(d.ids("/webhooks", "webhook_id"))+"/archive", nil) },
		func() { d.do("POST", "/webhooks/"+d.one(d.ids("/webhooks", "webhook_id"))+"/unarchive", nil) },
		func() {
			d.emails = append(d.emails, d.do("POST", "/v2/emails", `{"email":"`+d.address()+`",`+sender+`}`).id("id"))
		},
		func() { _ = d.Open(email) },
		func() { _ = d.Bounce(email, mockserver.HardBounce) },
		func() { _ = d.Complain(email, "") },
		func() { _ = d.Unsubscribe(email) },
		func() { _ = d.GlobalUnsubscribe(email) },
		func() { _ = d.DeleteMessage(email) },
		func() { _ = d.Redeliver(fmt.Sprintf("dlv-%d", 1+d.random.IntN(20))) },
		func() { _, _ = d.Inject(mockserver.Fault{Action: mockserver.FaultReorder, Times: 1}) },
		func() { _, _ = d.Inject(mockserver.Fault{Action: mockserver.FaultDuplicate, Times: 1}) },
	}
	acts[d.random.IntN(len(acts))]()
}

// lingering is a receiver that takes five seconds.
func lingering() map[string]http.Handler {
	return map[string]http.Handler{"app.test": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(5 * time.Second):
		case <-r.Context().Done():
		}
	})}
}

// compare fails unless two states are the same after they were restored.
func compare(t *testing.T, want, got []byte) {
	t.Helper()
	var platforms []probe
	for _, state := range [][]byte{want, got} {
		p := newProbe(t, mockserver.Config{RecordEvents: true, Targets: lingering()})
		defer p.Close()
		must(t, p.Restore(bytes.NewReader(state)))
		platforms = append(platforms, p)
	}
	synctest.Wait()
	if a, b := snapshotOf(t, platforms[0].Server), snapshotOf(t, platforms[1].Server); a != b {
		t.Fatal(difference(a, b))
	}
}

// After each of some hundred random operations, the output of a follower restores the same state as a snapshot.
func TestFollow(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, mockserver.Config{RecordEvents: true, Targets: lingering(), SkipValidation: true})
				d := &dice{probe: p, random: rand.New(rand.NewPCG(seed, 0))}
				f := p.Follow()
				defer f.Close()
				var written bytes.Buffer
				for step := range 250 {
					switch d.act(); step {
					case 80:
						p.Reset() // and the whole state is written again
					case 160:
						if err := p.ClearAccount(1); err != nil { // the same
							t.Fatal(err)
						}
					}
					if d.random.IntN(3) == 0 {
						time.Sleep(time.Duration(d.random.IntN(7)) * time.Second)
					}
					synctest.Wait()
					if d.random.IntN(3) != 0 {
						continue
					}
					must(t, f.Write(&written))
					if step%5 == 0 {
						compare(t, []byte(snapshotOf(t, p.Server)), written.Bytes())
					}
				}
			})
		})
	}
}

// followed returns what a follower writes.
func followed(t *testing.T, f *mockserver.Follower) string {
	t.Helper()
	synctest.Wait()
	var out strings.Builder
	must(t, f.Write(&out))
	return out.String()
}

// A follower writes each kind of change, and only the accounts that changed.
func TestFollowEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{
			Tokens:  []mockserver.Token{{Value: "one"}, {Value: "two", AccountID: 2}},
			Targets: map[string]http.Handler{"app.test": http.NotFoundHandler()},
		})
		hook := strings.TrimPrefix(p.webhook("Email.Bounced"), "/webhooks/")
		f := p.Follow()
		defer f.Close()
		followed(t, f)
		must(t, p.SetNow(p.Now().Add(time.Hour)))
		if text := followed(t, f); !strings.Contains(text, `"ahead_ms":3600000`) {
			t.Errorf("of a clock that was set it wrote %q", text)
		}
		if _, err := p.SendEvent(hook, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if text := followed(t, f); !strings.Contains(text, `"state":"retrying"`) || !strings.Contains(text, `"accounts":[]`) {
			t.Errorf("of the first attempt it wrote %q", text)
		}
		time.Sleep(time.Second)
		if text := followed(t, f); !strings.Contains(text, `"tries":2`) || !strings.Contains(text, `"accounts":[]`) {
			t.Errorf("of the second attempt it wrote %q", text)
		}
		if text := followed(t, f); text != "" {
			t.Errorf("of nothing it wrote %q", text)
		}
		must(t, p.ClearAccount(2))
		p.Reset()
		if text := followed(t, f); !strings.HasPrefix(text, `{"version":`) {
			t.Errorf("of a reset it wrote %q", text)
		}
	})
}

// difference returns the first line that is different.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			from := max(0, i-20)
			return fmt.Sprintf("want\n%s\ngot\n%s", strings.Join(a[from:i+1], "\n"), strings.Join(b[from:min(len(b), i+5)], "\n"))
		}
	}
	return "more lines than there should be"
}

// Snapshots, restores and resets run concurrently with requests. The output of a follower can always be restored.
func TestFollowConcurrentChanges(t *testing.T) {
	receiver := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	cfg := mockserver.Config{RecordEvents: true, SkipValidation: true, Targets: map[string]http.Handler{"app.test": receiver}}
	p, other := newProbe(t, cfg), newProbe(t, cfg)
	done := make(chan struct{})
	var busy sync.WaitGroup
	for i := range 3 {
		d := &dice{probe: p, random: rand.New(rand.NewPCG(uint64(i), 1))}
		busy.Go(func() {
			for range 80 {
				d.act()
			}
		})
	}
	go func() { busy.Wait(); close(done) }()
	f := p.Follow()
	defer f.Close()
	var written bytes.Buffer
	for i, more := 0, true; more; i++ {
		select {
		case <-done:
			more = false
		default:
		}
		var saved bytes.Buffer
		must(t, p.Snapshot(&saved))
		switch i % 20 {
		case 10:
			p.Reset()
		case 0:
			must(t, p.Restore(&saved))
		}
		must(t, f.Write(&written))
		must(t, other.Restore(bytes.NewReader(written.Bytes())))
	}
	must(t, p.Drain(t.Context()))
	must(t, f.Write(&written))
	size := written.Len()
	if err := f.Write(&written); err != nil || written.Len() != size {
		t.Errorf("wrote %q, %v, although nothing has changed", written.Bytes()[size:], err)
	}
	must(t, other.Restore(bytes.NewReader(written.Bytes())))
	if got, want := snapshotOf(t, other.Server), snapshotOf(t, p.Server); got != want {
		t.Error(difference(want, got))
	}
}

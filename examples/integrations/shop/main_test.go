package main

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
)

var check = faulttest.Check

// process starts the shop with the database in a folder, as main does.
func process(t *testing.T, platform *mockserver.Server, dir string) (http.Handler, *sql.DB) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db")+"?_pragma=journal_mode(WAL)")
	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	cfg := client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()}
	h, room, err := newShop(t.Context(), db, cfg, "http://shop.test")
	check(t, err)
	t.Cleanup(func() { check(t, room.Close()) })
	platform.SetTarget("shop.test", h)
	time.Sleep(time.Second) // the Room connects
	return h, db
}

func order(h http.Handler, id, email, site string) int {
	r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader(url.Values{"id": {id}, "email": {email}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", site)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func states(t *testing.T, db *sql.DB) (states string) {
	t.Helper()
	check(t, db.QueryRow("SELECT coalesce(group_concat(id || ' ' || state, ', '), '') FROM orders").Scan(&states))
	return states
}

// TestShop: each order gets one email, and its state follows the events. A request from another site or with a
// large body adds no order.
func TestShop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform := mockserver.New(mockserver.Config{})
		t.Cleanup(platform.Close)
		h, db := process(t, platform, t.TempDir())
		for _, tt := range []struct {
			id, site string
			status   int
		}{
			{"17", "same-origin", http.StatusOK},
			{"17", "same-origin", http.StatusConflict},
			{"18", "cross-site", http.StatusForbidden},
			{strings.Repeat("1", 1<<20), "same-origin", http.StatusConflict},
		} {
			if got := order(h, tt.id, "bounce+hb@mock.test", tt.site); got != tt.status {
				t.Errorf("%.5s from %s: status %d, want %d", tt.id, tt.site, got, tt.status)
			}
		}
		time.Sleep(time.Minute)
		if got := states(t, db); got != "17 hard_bounce" || len(platform.Outbox()) != 1 {
			t.Errorf("%s, %d emails", got, len(platform.Outbox()))
		}
	})
}

// TestKill: a process is killed during the request that sends an email. The next process does not send the email
// again, but learns from an event that it was sent.
func TestKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform := mockserver.New(mockserver.Config{})
		t.Cleanup(platform.Close)
		faulttest.Inject(t, platform, mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultHang, AfterProcessing: true, Times: 1})
		killed, dir := t.TempDir(), t.TempDir()
		h, _ := process(t, platform, killed)
		order(h, "17", "ada@example.org", "same-origin")
		time.Sleep(time.Second)
		check(t, os.CopyFS(dir, os.DirFS(killed))) // what a killed process leaves
		_, db := process(t, platform, dir)
		time.Sleep(time.Minute)
		if got := states(t, db); got != "17 unknown" {
			t.Errorf("after the crash: %s", got)
		}
		check(t, platform.Open(platform.Outbox()[0].ID))
		time.Sleep(time.Minute)
		if got := states(t, db); got != "17 sent" || len(platform.Outbox()) != 1 {
			t.Errorf("after the event: %s, %d emails", got, len(platform.Outbox()))
		}
	})
}

// TestAddressInUse: if another process uses the address, the shop ends with an error.
func TestAddressInUse(t *testing.T) {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	t.Setenv("EMAILPLATFORM_BASE_URL", platform.URL())
	t.Setenv("EMAILPLATFORM_TOKEN", platform.Token())
	t.Chdir(t.TempDir())
	other := httptest.NewServer(nil)
	defer other.Close()
	if err := run(t.Context(), other.Listener.Addr().String()); err == nil {
		t.Error("run returned no error")
	}
}

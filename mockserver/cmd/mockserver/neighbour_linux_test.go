package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// isolated in the environment says that the test runs in a network of its own.
const isolated = "MOCKSERVER_TEST_ISOLATED"

// TestNeighbour delivers to another machine of a private network, as containers
// of one docker-compose are to each other. The network is the test's own, made
// of namespaces that lead nowhere else, and gone with the process in them. The
// neighbour has the address of a cloud's metadata as well: not even then does
// anything arrive there.
func TestNeighbour(t *testing.T) {
	if os.Getenv(isolated) == "" {
		runIsolated(t)
		return
	}
	got := neighbour(t)
	for _, row := range []struct {
		name, url string
		allow     []string
		want      string // in the delivery's record
	}{
		{"its network is allowed", "http://10.77.0.2:8080/hook", []string{"-allow-target", "10.77.0.0/24"}, `"delivered"`},
		{"its address is allowed", "http://10.77.0.2:8080/hook", []string{"-allow-target", "10.77.0.2"}, `"delivered"`},
		{"its name is allowed", "http://neighbour:8080/hook", []string{"-allow-target", "neighbour"}, `"delivered"`},
		{"its name leads to a network that is allowed", "http://neighbour:8080/hook", []string{"-allow-target", "10.77.0.0/24"}, `"delivered"`},
		{"nothing is allowed", "http://10.77.0.2:8080/hook", nil, "not a public address"},
		{"nothing is allowed, by its name", "http://neighbour:8080/hook", nil, "not a public address"},
		{"public addresses are allowed", "http://neighbour:8080/hook", []string{"-allow-targets"}, "not a public address"},
		{"another is allowed", "http://neighbour:8080/hook", []string{"-allow-target", "10.78.0.0/16", "-allow-target", "other"}, "not a public address"},
		{"metadata by its address", "http://169.254.169.254:8080/hook", []string{"-allow-target", "0.0.0.0/0"}, "keep credentials"},
		{"metadata by a name", "http://metadata:8080/hook", []string{"-allow-target", "metadata", "-allow-targets"}, "keep credentials"},
		{"metadata by IPv6", "http://[::ffff:169.254.169.254]:8080/hook", []string{"-allow-target", "0.0.0.0/0", "-allow-target", "::/0"}, "keep credentials"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got.Store(0)
			deliveries := deliverTo(t, row.url, row.allow...)
			if !strings.Contains(deliveries, row.want) {
				t.Errorf("want %s in %s", row.want, deliveries)
			}
			if arrived := got.Load() == 1; arrived != (row.want == `"delivered"`) {
				t.Errorf("%d deliveries arrived", got.Load())
			}
		})
	}
}

// deliverTo makes the command deliver an event to a URL, once, and returns what
// became of it.
func deliverTo(t *testing.T, url string, args ...string) string {
	t.Helper()
	r := start(t, append(args, "-retry-schedule", "none", "-quiet")...)
	r.ask("POST", "/webhooks", "dev-token", fmt.Sprintf(`{"url":%q,"events":["SuppressedEmail.Added"]}`, url))
	r.ask("POST", "/suppressed-emails", "dev-token", `{"email":"ada@example.org"}`)
	if status, text := r.ask("POST", "/_mock/wait", "", ""); status != http.StatusNoContent {
		t.Errorf("waiting: %d %s", status, text)
	}
	_, list := r.ask("GET", "/_mock/deliveries", "", "")
	_, id, _ := strings.Cut(list, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	_, record := r.ask("GET", "/_mock/deliveries/"+id, "", "")
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	return record
}

// runIsolated runs the test again, in namespaces of its own. Where the system
// makes none, nothing is proven.
func runIsolated(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), isolated+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	_, err := exec.LookPath("ip")
	var out []byte
	if err == nil {
		out, err = cmd.CombinedOutput()
	}
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no network of its own: %v", err)
		}
		t.Skipf("no network of its own, nothing was proven: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}

// neighbour makes the network and a receiver in it, and counts what arrives.
func neighbour(t *testing.T) *atomic.Int64 {
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("10.77.0.2 neighbour\n169.254.169.254 metadata\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(hosts, "/etc/hosts", "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	ip(t, "link add here type veth peer name there", "link set lo up")
	listening := make(chan net.Listener)
	go func() {
		defer close(listening)
		listening <- listenElsewhere(t)
	}()
	listener := <-listening
	if listener == nil {
		t.Fatal("no neighbour")
	}
	ip(t, "address add 10.77.0.1/24 dev here", "address add 169.254.1.1/16 dev here", "link set here up")
	got := &atomic.Int64{}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Service-Signature") != "" {
			got.Add(1)
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return got
}

// listenElsewhere takes the other end of the link into a namespace of its own,
// and listens there. That namespace is the thread's, which ends with the
// goroutine; what it has opened stays.
func listenElsewhere(t *testing.T) net.Listener {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		t.Error(err)
		return nil
	}
	// The link is the other namespace's to give: ip runs there, as a thread that has not moved would start it.
	moved := make(chan bool)
	thread := syscall.Gettid()
	go func() { ip(t, fmt.Sprintf("link set there netns %d", thread)); close(moved) }()
	<-moved
	ip(t, "address add 10.77.0.2/24 dev there", "address add 169.254.169.254/16 dev there", "link set there up")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":8080")
	if err != nil {
		t.Error(err)
		return nil
	}
	return listener
}

// ip runs commands of iproute2 in the namespace of the calling thread.
func ip(t *testing.T, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			t.Errorf("ip %s: %v %s", command, err, out)
		}
	}
}

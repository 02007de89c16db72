package main

import (
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// isolated is set in the environment of a test process with its own network.
const isolated = "MOCKSERVER_TEST_ISOLATED"

// TestPrivateNetwork delivers to another host of a private network, as in a docker-compose file. The network consists of
// namespaces of the test process. The other host also has the address of a cloud's metadata service. Without namespaces,
// the test is skipped. ISOLATION=require makes that an error.
func TestPrivateNetwork(t *testing.T) {
	if os.Getenv(isolated) != "" {
		deliverToAll(t, privateNetwork(t))
		return
	}
	err := namespaces(t)
	switch {
	case err == nil:
		runIsolated(t)
	case os.Getenv("ISOLATION") == "require":
		t.Fatalf("cannot create a network namespace: %v", err)
	default:
		t.Skipf("no network of its own, nothing was tested: %v", err)
	}
}

// delivered occurs in the record of a successful delivery.
const delivered = `"delivered"`

func deliverToAll(t *testing.T, got *atomic.Int64) {
	for _, row := range []struct {
		name, url string
		allow     []string
		want      string // expected in the delivery's record
	}{
		{"its name is allowed", "http://receiver:8080/hook", []string{"-allow-target", "receiver"}, delivered},
		{"its network is allowed", "http://receiver:8080/hook", []string{"-allow-target", "10.77.0.0/24"}, delivered},
		{"nothing is allowed", "http://10.77.0.2:8080/hook", nil, "not a public address"},
		{"public addresses are allowed", "http://receiver:8080/hook", []string{"-allow-targets"}, "not a public address"},
		{"metadata by its address", "http://169.254.169.254:8080/hook", []string{"-allow-target", "0.0.0.0/0"}, "keep credentials"},
		{"metadata by a name", "http://metadata:8080/hook", []string{"-allow-target", "metadata", "-allow-targets"}, "keep credentials"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got.Store(0)
			deliveries := deliverTo(t, row.url, row.allow...)
			if !strings.Contains(deliveries, row.want) {
				t.Errorf("want %s in %s", row.want, deliveries)
			}
			assert.Equal(t, row.want == delivered, got.Load() == 1, "%d deliveries arrived", got.Load())
		})
	}
}

// deliverTo starts the command, delivers an event to a URL, and returns the record.
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
	assert.NoError(t, r.stop())
	return record
}

// runIsolated runs the test in new namespaces.
func runIsolated(t *testing.T) {
	cmd := withNamespaces(t, os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), isolated+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}

// namespaces returns an error if this user cannot create networks.
func namespaces(t *testing.T) error {
	if out, err := withNamespaces(t, "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("ip link set lo up: %w %s", err, out)
	}
	return nil
}

// withNamespaces returns a command with its own network and mounts. Unless the user is root, it also has its own users.
func withNamespaces(t *testing.T, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// privateNetwork creates the network and a receiver in it. It returns a counter of the deliveries.
func privateNetwork(t *testing.T) *atomic.Int64 {
	hosts := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(hosts, []byte("10.77.0.2 receiver\n169.254.169.254 metadata\n"), 0o600))
	require.NoError(t, syscall.Mount(hosts, "/etc/hosts", "", syscall.MS_BIND, ""))
	ip(t, "link add here type veth peer name there", "link set lo up")
	listening := make(chan net.Listener)
	go func() {
		defer close(listening)
		listening <- listenElsewhere(t)
	}()
	listener := <-listening
	if listener == nil {
		t.Fatal("the receiver did not start")
	}
	ip(t, "address add 10.77.0.1/24 dev here", "address add 169.254.1.1/16 dev here", "link set here up")
	return receive(t, listener)
}

// receive returns a counter of the deliveries that a listener accepts.
func receive(t *testing.T, listener net.Listener) *atomic.Int64 {
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

// listenElsewhere moves the other end of the link into the namespace of this thread, and listens there. The thread ends
// with the goroutine.
func listenElsewhere(t *testing.T) net.Listener {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		t.Error(err)
		return nil
	}
	// Only the original namespace can move the link, so ip runs on another thread, which is still in that namespace.
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

// ip runs iproute2 commands in the network namespace of the thread.
func ip(t *testing.T, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			t.Errorf("ip %s: %v %s", command, err, out)
		}
	}
}

package main

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"example.com/emailplatform/mockserver"
)

// ready is what a program must know to use a server that it has started.
type ready struct {
	BaseURL    string `json:"base_url"`    // of the API
	ConsoleURL string `json:"console_url"` // and of the control routes; lets a browser in
	Token      string `json:"token"`       // the first one that is known
	FaultSeed  uint64 `json:"fault_seed"`
	PID        int    `json:"pid"`
}

func readyNow(srv *mockserver.Server, addr net.Addr) ready {
	base := "http://" + reachable(addr.String())
	return ready{
		BaseURL:    base,
		ConsoleURL: consoleURL(base, srv.Token(), addr),
		Token:      srv.Token(),
		FaultSeed:  srv.FaultSeed(),
		PID:        os.Getpid(),
	}
}

// write makes the file appear whole, for its owner alone: it holds a token. No
// name is no file.
func (r ready) write(name string) error {
	if name == "" {
		return nil
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(append(body, '\n'))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// forget removes the file that an earlier server has left: nobody may take its
// word for this one's.
func forget(name string) error {
	info, err := os.Lstat(name)
	switch {
	case name == "" || errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("-ready-file: " + name + " is there, and is no file")
	}
	return os.Remove(name)
}

// consoleURL is where the console is, and the control routes below it. Off
// loopback they want a token: following the link keeps it in a cookie.
func consoleURL(base, token string, addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return base + "/_mock/"
	}
	return base + "/_mock/?token=" + url.QueryEscape(token)
}

// reachable names an address that can be asked, also for one that means all.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

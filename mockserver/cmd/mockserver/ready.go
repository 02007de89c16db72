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

// ready describes a started server for the program that started it.
type ready struct {
	BaseURL    string `json:"base_url" doc:"base URL of the API; the control routes are below it, in /_mock/"`
	ConsoleURL string `json:"console_url" doc:"URL of the console, with the token if the console requires one"`
	Token      string `json:"token" doc:"the first access token with write access"`
	FaultSeed  uint64 `json:"fault_seed" doc:"seed of random faults"`
	PID        int    `json:"pid" doc:"id of the server's process"`
}

func readyNow(srv *mockserver.Server, addr net.Addr) ready {
	base := "http://" + reachable(addr.String(), "localhost", "localhost")
	r := ready{BaseURL: base, ConsoleURL: base + "/_mock/", Token: srv.Token(), FaultSeed: srv.FaultSeed(), PID: os.Getpid()}
	if tcp, ok := addr.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		r.ConsoleURL += "?token=" + url.QueryEscape(r.Token)
	}
	return r
}

// reachable replaces a wildcard host in an address with ip4 or ip6.
func reachable(address, ip4, ip6 string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip.Equal(net.IPv4zero) {
		host = ip4
	} else if ip.Equal(net.IPv6zero) {
		host = ip6
	}
	return net.JoinHostPort(host, port)
}

// write creates the file atomically. Only the owner can read it, because it
// contains a token. If name is empty, write does nothing.
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

// remove removes the file, unless another server has replaced it.
func (r ready) remove(name string) {
	var there ready
	body, err := os.ReadFile(name)
	if err == nil && json.Unmarshal(body, &there) == nil && there == r {
		_ = os.Remove(name)
	}
}

func removeReadyFile(name string) error {
	info, err := os.Lstat(name)
	switch {
	case name == "" || errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New(name + " exists and is not a regular file")
	}
	return os.Remove(name)
}

//go:build !windows

package mockserver_test

import "syscall"

// errConnReset is the error of a socket whose peer has reset the connection.
const errConnReset = syscall.ECONNRESET

package mockserver_test

import "syscall"

// errConnReset is the error of a socket whose peer has reset the connection.
// syscall.ECONNRESET is a number that Go invented for Windows.
const errConnReset = syscall.WSAECONNRESET

package record_test

import (
	"fmt"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/record"
)

// The methods of a mock server return these types.
func Example() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	report := func(sent []record.Message) { fmt.Println(len(sent), "messages") }
	report(srv.Outbox())
	// Output: 0 messages
}

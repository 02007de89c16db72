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
	var sent []record.Message = srv.Outbox()
	fmt.Println(len(sent), "messages")
	// Output: 0 messages
}

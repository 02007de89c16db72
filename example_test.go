package emailplatform_test

import (
	"fmt"
	"strings"

	"example.com/emailplatform"
)

func ExampleOpenAPI() {
	version, _, _ := strings.Cut(emailplatform.OpenAPI(), "\n")
	fmt.Println(version)
	// Output: openapi: 3.1.0
}

// Command validate validates openapi.yaml and its examples with kin-openapi.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	log.SetFlags(0)
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		log.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok: kin-openapi")
}

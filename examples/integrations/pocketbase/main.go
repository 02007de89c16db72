// Command pocketbase is a shop on PocketBase. Set EMAILPLATFORM_BASE_URL, EMAILPLATFORM_TOKEN and PUBLIC_URL, and run it with the argument serve.
package main

import (
	"log"
	"os"

	"github.com/pocketbase/pocketbase"

	"example.com/emailplatform/client"
)

func main() {
	app := pocketbase.New()
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	if _, err := register(app, cfg, os.Getenv("PUBLIC_URL")); err != nil {
		log.Fatal(err)
	}
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}

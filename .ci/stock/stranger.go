// Command stranger uses only openapi.yaml and oapi-codegen, as a user without this
// SDK would. It calls a platform and decodes deliveries.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"reflect"

	"stock.example/api"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("Go: ")
	base, token, deliveries := os.Args[1], os.Args[2], os.Args[3]
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	client, err := api.NewClientWithResponses(base, api.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	list := write(ctx, client)
	read(ctx, client, list)
	refused(ctx, client, list)
	unauthorized(ctx, base)
	files, err := filepath.Glob(filepath.Join(deliveries, "*.json"))
	if err != nil || len(files) < 14 {
		log.Fatalf("got %d deliveries in %s, %v; want one of each event at least", len(files), deliveries, err)
	}
	for _, file := range files {
		receive(file)
	}
	fmt.Printf("ok: a Go client by oapi-codegen reads, writes, is refused, and reads %d deliveries\n", len(files))
}

func write(ctx context.Context, client *api.ClientWithResponses) int64 {
	got, err := client.CreateListWithResponse(ctx, api.ListCreate{Name: "Customers"})
	if err != nil || got.JSON201 == nil || got.JSON201.Name != "Customers" {
		log.Fatalf("creating a list: %+v, %v", got, err)
	}
	return got.JSON201.ListId
}

func read(ctx context.Context, client *api.ClientWithResponses, list int64) {
	count := true
	got, err := client.ListListsWithResponse(ctx, &api.ListListsParams{WithCount: &count})
	if err != nil || got.JSON200 == nil {
		log.Fatalf("listing the lists: %+v, %v", got, err)
	}
	page := got.JSON200
	if len(page.Data) != 1 || page.Data[0].ListId != list || page.Pagination.Count == nil || *page.Pagination.Count != 1 {
		log.Fatalf("got the lists %+v, want list %d alone", page, list)
	}
}

// refused has a place in an array, whose location is of names and of a number.
func refused(ctx context.Context, client *api.ClientWithResponses, list int64) {
	got, err := client.CreateContactWithResponse(ctx, list, nil, api.ContactCreate{Email: "ada@example.org", Tags: &[]string{"vip", ""}})
	if err != nil || got.JSON422 == nil || len(got.JSON422.Detail) != 1 || len(got.JSON422.Detail[0].Loc) != 3 {
		log.Fatalf("an empty tag: %+v, %v", got, err)
	}
	loc := got.JSON422.Detail[0].Loc
	body, err1 := loc[0].AsLocation0()
	tags, err2 := loc[1].AsLocation0()
	index, err3 := loc[2].AsLocation1()
	if err1 != nil || err2 != nil || err3 != nil || body != "body" || tags != "tags" || index != 1 {
		log.Fatalf("an empty tag is at %s, want body, tags, 1", got.Body)
	}
}

func unauthorized(ctx context.Context, base string) {
	client, err := api.NewClientWithResponses(base)
	if err != nil {
		log.Fatal(err)
	}
	got, err := client.ListTagsWithResponse(ctx, nil)
	if err != nil || got.JSON401 == nil || got.JSON401.Detail[0].Type != "unauthorized" {
		log.Fatalf("without a token: %+v, %v", got, err)
	}
}

// receive reads a delivery as the type that its event stands for, and writes it
// again: whatever the type had no room for is missing then.
func receive(file string) {
	body, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var event api.Event
	if err := json.Unmarshal(body, &event); err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	value, err := event.ValueByDiscriminator()
	if err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	again, err := json.Marshal(value)
	if err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	if !reflect.DeepEqual(generic(body), generic(again)) {
		log.Fatalf("%s is %s after it was read as %T", file, again, value)
	}
}

func generic(b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		log.Fatal(err)
	}
	return v
}

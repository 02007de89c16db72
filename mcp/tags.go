package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/emailplatform/client"
)

func tagsTool() *tool {
	return &tool{
		Tool: sdk.Tool{
			Name:  "tags",
			Title: "Tags",
			Description: `Lists the tags of the account's contacts in alphabetical order, one page per call.
To find the contacts with a tag, call the tool contacts with operation "list" and filter "tag:NAME".`,
			Annotations: &sdk.ToolAnnotations{
				Title:           "Tags",
				ReadOnlyHint:    true,
				DestructiveHint: new(false),
				IdempotentHint:  true,
				OpenWorldHint:   new(false),
			},
			InputSchema: closed(object([]string{"operation"}, []property{
				{"operation", choice("The operation.", "list")},
				{"page", pageArgument()},
				{"per_page", perPageArgument()},
			})),
			OutputSchema: tagsOutputSchema(),
		},
		operations: map[string]operation{
			"list": {optional: []string{"page", "per_page"}, run: runs(listTags)},
		},
	}
}

func tagsOutputSchema() *jsonschema.Schema {
	tags := property{"tags", texts("The names of the tags, in alphabetical order.")}
	return object([]string{"tags", "page", "per_page"}, append([]property{tags}, pageProperties()...))
}

type tagPage struct {
	Tags []string `json:"tags"`
	pageOutput
}

func listTags(ctx context.Context, c *client.Client, in pageInput) (toolResult, error) {
	in = in.withDefaults()
	page, err := c.Tags.List(ctx, client.ListTagsParams{Page: in.Page, PerPage: in.PerPage, WithCount: true})
	if err != nil {
		return toolResult{}, err
	}
	items, about := bound(in, page.Data, page.Pagination)
	out := tagPage{Tags: make([]string, len(items)), pageOutput: about}
	var s strings.Builder
	fmt.Fprintf(&s, "Tags, %d per page. %s.", about.PerPage, about.summary(len(items)))
	for i, tag := range items {
		out.Tags[i] = tag.Name
		fmt.Fprintf(&s, "\n- %q", tag.Name)
	}
	return toolResult{out, s.String()}, nil
}

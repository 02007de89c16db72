package main

import (
	"context"
	"net/http"

	"example.com/emailplatform/client"
)

// nothing is an id that no platform has given yet.
const nothing = 1 << 52

// conventions are the rows about what holds for all operations.
func conventions() []check {
	unknown := func(ctx context.Context, c *client.Client) error {
		_, err := c.Lists.Get(ctx, nothing)
		return err
	}
	return []check{
		{"7", "an unknown id is 404", false, func(ctx context.Context, p *platform) verdict {
			a := ask(ctx, func(ctx context.Context) error { return unknown(ctx, p.c) })
			return a.refused(http.StatusNotFound, "")
		}},
		{"6", "an error has details of loc, msg and type", false, func(ctx context.Context, p *platform) verdict {
			a := ask(ctx, func(ctx context.Context) error { return unknown(ctx, p.c) })
			details, _ := a.object()["detail"].([]any)
			if len(details) == 0 {
				return verdict{differs, `no array "detail" in ` + shorten(a.text)}
			}
			detail, _ := details[0].(map[string]any)
			return result{}.differ(unless(detail["loc"] != nil, "no loc"), unless(detail["msg"] != nil, "no msg"), unless(detail["type"] != nil, "no type"))
		}},
		{"6", "an result names itself by X-Request-Id", false, func(ctx context.Context, p *platform) verdict {
			a := ask(ctx, func(ctx context.Context) error { return unknown(ctx, p.c) })
			return result{}.differ(unless(a.header.Get("X-Request-Id") != "", "it does not"))
		}},
		{"7", "an unknown token is 401 with WWW-Authenticate: Bearer", false, func(ctx context.Context, p *platform) verdict {
			a := ask(ctx, func(ctx context.Context) error { return unknown(ctx, p.nobody) })
			if v := a.refused(http.StatusUnauthorized, ""); v.outcome != holds {
				return v
			}
			challenge := a.header.Get("WWW-Authenticate")
			return result{}.differ(unless(challenge != "", "401 without it"))
		}},
	}
}

// shorten returns the beginning of a text, in one line.
func shorten(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	if s == "" {
		return "nothing"
	}
	return s
}

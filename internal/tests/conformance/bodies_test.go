package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestBodies(t *testing.T) {
	t.Run("paths are relative to the base URL", inLab(func(l *lab) {
		proves(l, "http/base-url", "versioning/no-prefix")
		mounted := http.StripPrefix("/tenant/7", l.srv)
		for path, status := range map[string]int{"/tenant/7/lists": 200, "/tenant/7/v2/lists": 404, "/lists": 404} {
			req := httptest.NewRequestWithContext(l.Context(), http.MethodGet, path, nil)
			req.Header.Set("Authorization", "Bearer "+owner)
			res := httptest.NewRecorder()
			mounted.ServeHTTP(res, req)
			want(l, path, res.Code, status)
		}
		for _, r := range routes(l) {
			want(l, r.path+" has a prefix", strings.HasPrefix(r.path, "/v2/"), strings.HasPrefix(r.path, "/v2/emails"))
		}
	}))
	t.Run("bodies are JSON", inLab(func(l *lab) {
		proves(l, "http/json-bodies", "decision/3/bare")
		created := l.post("/lists", ` {"name" : "News"} `).is(201, `{"list_id":"<integer>","name":"News","…":0}`)
		l.get(f("/lists/%d", created.int("list_id"))).is(200, string(created.raw))
	}))
}

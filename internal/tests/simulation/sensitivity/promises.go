package main

import "slices"

// inClient has the tests of the client notice each of the mistakes.
func inClient(mistakes ...broken) []broken {
	for i := range mistakes {
		mistakes[i].pkg, mistakes[i].test = "./client", "."
	}
	return mistakes
}

// promiseBreaks are mistakes against what the client says of answers, imports,
// files, errors and memory.
func promiseBreaks() []broken {
	return slices.Concat(attemptPromises(), callbackPromises(), answerPromises(), importPromises(), filePromises(), textPromises())
}

func attemptPromises() []broken {
	return inClient(
		broken{
			name: "a 408 is certain", file: "client/retry.go",
			old: "400 <= s && s < 500 && s != http.StatusRequestTimeout", new: "400 <= s && s < 500",
		},
		broken{
			name: "what HTTP/2 certainly refused is unknown", file: "client/once.go",
			old: "if notProcessed.MatchString(o.reason(e).Error()) {", new: "if e == nil {",
		},
		broken{
			name: "Retry-After has no jitter", file: "client/retry.go",
			old: "max(min(retryAfter, r.MaxRetryAfter), 0) + r.jitter(n)", new: "max(max(min(retryAfter, r.MaxRetryAfter), 0), r.jitter(n))",
		},
		broken{
			name: "a Retry-After that is too long is cut", file: "client/retry.go",
			old: "return r.MaxRetryAfter >= 0 && retryAfter > r.MaxRetryAfter", new: "return false",
		},
		broken{
			name: "the wait is not in the error", file: "client/retry.go",
			old: "return e.later()", new: "return e",
		},
		broken{
			name: "the budget overflows", file: "client/retry.go",
			old: "5 * min(max(retries, 0), math.MaxInt/5-1)", new: "5 * max(retries, 0) * (math.MaxInt / math.MaxInt)",
		},
		broken{
			name: "a malformed Location fails with its query", file: "client/send.go",
			old: "if err == nil && resp.StatusCode/100 == 3 {", new: "if err == nil && resp.StatusCode/100 == 9 {",
		},
		broken{
			name: "idle connections stay", file: "client/client.go",
			old: "{ c.http.CloseIdleConnections() }", new: "{}",
		},
	)
}

func callbackPromises() []broken {
	return inClient(
		broken{
			name: "a token source that fails is asked by each who waits", file: "client/auth.go",
			old: "case before != nil && a.given.err != nil && !a.left:", new: "case before != nil && before == nil:",
		},
		broken{
			name: "a token that was rejected is asked for again by each", file: "client/auth.go",
			old: "case rejected != nil && g != rejected:", new: "case rejected != nil && g.token != rejected.token:",
		},
		broken{
			name: "a source that ignores its context holds the caller", file: "client/auth.go",
			old: "case <-ctx.Done():\n\t\t\tt.leave(a)", new: "case <-make(chan int):\n\t\t\tt.leave(a)",
		},
		broken{
			name: "a callback's panic is lost", file: "client/crash.go",
			old: "panic(c.panicked)", new: "return",
		},
		broken{
			name: "a callback's Goexit is lost", file: "client/crash.go",
			old: "runtime.Goexit()\n\t}", new: "_ = runtime.GOOS\n\t}",
		},
	)
}

func answerPromises() []broken {
	return inClient(
		broken{
			name: "a page without its items is empty", file: "internal/json/jsonscan/error.go",
			old: `c.report(offset, "a member "+strconv.Quote(member), false)`, new: "_, _ = offset, strconv.Quote(member)",
		},
		broken{
			name: "nothing is as good as an object", file: "client/do.go",
			old: `text = "null"`, new: `return v, nil`,
		},
		broken{
			name: "a list ends with fewer items than it counts", file: "client/page.go",
			old: "most < w.count {", new: "most < 0 {",
		},
		broken{
			name: "pages may be smaller than they say", file: "client/page.go",
			old: "if w.doubts(items) {\n\t\treturn fmt", new: "if w.doubts(nil) {\n\t\treturn fmt",
		},
		broken{
			name: "a refusal with status 200 is a success", file: "client/do.go",
			old: "if refused && c.End() == nil {", new: "if refused && c.End() != nil {",
		},
		broken{
			name: "a bounce that is only true is none", file: "client/spelling.go",
			old: "return &EmailBounce{Type: kind}", new: "return nil",
		},
		broken{
			name: "an import may account for nobody", file: "client/import_answer.go",
			old: "if !v.taken && told < n && told < different(batch, rejected) {", new: "if !v.taken && told < 0 && told < different(batch, rejected) {",
		},
		broken{
			name: "an import's mistake without a place is the first contact's", file: "client/import_answer.go",
			old: "\t}\n\treturn -1\n}", new: "\t}\n\treturn 0\n}",
		},
		broken{
			name: "an import's mistake is not placed by its location", file: "client/import_answer.go",
			old: "v.Index = v.Loc.entry()", new: "v.Index = -1",
		},
	)
}

func importPromises() []broken {
	return inClient(
		broken{
			name: "a contact that is left out loses its place", file: "client/import.go",
			old: "b.to = n\n\t\tif !im.wants(contact) {", new: "b.to = n\n\t\tif !im.wants(contact) {\n\t\t\tn--",
		},
		broken{
			name: "Resubscribe is not sent", file: "client/import.go",
			old: "Resubscribe: opts.Resubscribe", new: "Resubscribe: false",
		},
		broken{
			name: "batches run ahead of the checkpoint", file: "client/import.go",
			old: "for im.finished[im.inOrder%n] {", new: "for im.inOrder = number; im.finished[im.inOrder%n]; {",
		},
	)
}

func filePromises() []broken {
	return inClient(
		broken{
			name: "a row with a bare quote ends with its line", file: "client/csv_rows.go",
			old: "if text := bytes.TrimLeft(r.rest, \" \"); bytes.HasPrefix(text, []byte{'\"'}) {",
			new: "if text := r.rest; bytes.HasPrefix(text, []byte{'\"'}) {",
		},
		broken{
			name: "CR alone ends no line", file: "client/csv_rows.go",
			old: `if b == '\n' || b == '\r' {`, new: `if b == '\n' {`,
		},
		broken{
			name: "UTF-16 is read as bytes", file: "client/csv_rows.go",
			old: `bytes.IndexByte(start, 0) >= 0:`, new: `bytes.IndexByte(start, 0) >= 9:`,
		},
		broken{
			name: "sep= is a header", file: "client/csv_rows.go",
			old: `!strings.EqualFold(line[:4], "sep=")`, new: `line != ""`,
		},
		broken{
			name: "rows of nothing are somebody", file: "client/csv.go",
			old: `strings.TrimSpace(s) != "" }):`, new: `strings.TrimSpace(s) != "\n" }):`,
		},
		broken{
			name: "the headers that are there are not listed", file: "client/csv.go",
			old: "c.opts.Email, listed(c.headers))", new: "c.opts.Email, listed(nil))",
		},
		broken{
			name: "blank lines are a long row", file: "client/csv_rows.go",
			old: "for {\n\t\tr.size = 0\n", new: "for {\n",
		},
	)
}

func textPromises() []broken {
	return inClient(
		broken{
			name: "an error has as many lines as it likes", file: "client/errors.go",
			old: "if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {", new: "if !strings.ContainsFunc(s, hidden) || utf8.ValidString(s) {",
		},
		broken{
			name: "a secret encodes", file: "client/secret.go",
			old: "return []byte(redacted), nil }", new: "return []byte(s.Reveal()), nil }",
			too: &broken{file: "client/secret.go", old: "func (Secret) MarshalText()", new: "func (s Secret) MarshalText()"},
		},
		broken{
			name: "what is no UTF-8 is sent", file: "internal/json/jsonwrite/string.go",
			old: "if !utf8.ValidString(s) {", new: "if s == \"\" {",
		},
		broken{
			name: "why the context ended is not told", file: "client/errors.go",
			old: "return e.joined(ended).joined(redactError(why, c.token))", new: "return e",
		},
		broken{
			name: "elements of nothing take any memory", file: "internal/json/jsonscan/slice.go",
			old: "if c.taken > free+growth*len(c.text) {", new: "if c.taken < 0 {",
		},
		broken{
			name: "all details are kept", file: "client/detail.go",
			old: "if n++; n > maxDetails {", new: "if n++; n < 0 {",
		},
	)
}

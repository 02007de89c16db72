package main

import "slices"

// broken is a deliberate mistake: in the file, New stands where Old stood, which must
// stand there once.
type broken struct {
	name, file, old, new string

	too *broken // is made as well; may be in the same file

	// test names the test that catches it, as a package and a regular expression;
	// if empty, the simulation does.
	pkg, test string
}

// breaks lists the mistakes, each of them one that somebody could make.
func breaks() []broken {
	return slices.Concat(retryBreaks(), callBreaks(), importBreaks(), webhookBreaks(), deliveryBreaks(), promiseBreaks())
}

func retryBreaks() []broken {
	return []broken{
		{
			name: "a lost answer to a send is tried again", file: "client/retry.go",
			old: "verdict{again: repeatable, maybeDone: true}", new: "verdict{again: true, maybeDone: true}",
		},
		{
			name: "an attempt before the last one is forgotten", file: "client/retry.go",
			old: "c.maybeDone = c.maybeDone || v.maybeDone", new: "c.maybeDone = v.maybeDone",
		},
		{
			name: "a lost answer is taken for certain", file: "client/retry.go",
			old: "e.unknown = c.maybeDone && c.method", new: "e.unknown = c.maybeDone && e.StatusCode != 0 && c.method",
		},
		{
			name: "a refused connection is an unknown outcome", file: "client/retry.go",
			old: "e.unknown = c.maybeDone && c.method", new: "e.unknown = c.method",
		},
		{
			name: "one attempt too many", file: "client/retry.go",
			old: "!v.again || n >= p.attempts(c)", new: "!v.again || n > p.attempts(c)",
		},
		{
			name: "GetBody is left on HTTP/2, and nothing stops it", file: "client/send.go",
			old: "if major > 1 || major == 0 && ", new: "if major < 0 && ",
			too: &broken{file: "client/once.go", old: "if o.written.Load() && (", new: "if o == nil && ("},
		},
		{
			name: "a request that HTTP/2 sends again is not stopped", file: "client/once.go",
			old: "if o.written.Load() && (", new: "if o == nil && (",
		},
		{
			name: "every failure of HTTP/2 counts as refused", file: "client/once.go",
			old: `stream error: stream ID \d+; REFUSED_STREAM; received from peer`, new: `stream error: stream ID \d+; .*; received from peer`,
		},
	}
}

func callBreaks() []broken {
	return []broken{
		{
			name: "an attempt has no bound", file: "client/send.go",
			old: "if s.timeout > 0 {", new: "if s.timeout > 1<<60 {",
		},
		{
			name: "answers are not closed", file: "client/send.go",
			old: "defer resp.Body.Close()", new: "defer func() { _ = resp.Body }()",
		},
		{
			name: "lookups too close by a tenth", file: "client/limiter.go",
			old: "const lookupGap = time.Second + time.Millisecond", new: "const lookupGap = 900 * time.Millisecond",
		},
		{
			name: "lookups do not wait for their turn", file: "client/lookup.go",
			old: "if c.op != opLookup {", new: "if c.op != \"\" {",
		},
		{
			name: "the token is logged", file: "client/log.go",
			old: `slog.String("op", c.op),`, new: `slog.String("op", c.op), slog.String("as", c.token),`,
		},
		{
			name: "a 101 is waited for", file: "client/send.go",
			old: "if resp.StatusCode < 200 {", new: "if resp.StatusCode < 100 {",
		},
		{
			name: "a full page is the last one", file: "client/page.go",
			old: "if int64(len(items)) >= full {", new: "if int64(len(items)) > full {",
		},
		{
			name: "pages are handed out as they come", file: "client/page.go",
			old: "f := <-q.queue[0]\n\tq.queue = q.queue[1:]", new: "f := <-q.queue[len(q.queue)-1]\n\tq.queue = q.queue[:len(q.queue)-1]",
		},
		{
			name: "a missing id is no mistake", file: "internal/json/jsonscan/error.go",
			old: "func (c *Cursor) Missing(offset int, member string) {", new: "func (c *Cursor) Missing(offset int, member string) {\n\tif offset >= 0 {\n\t\treturn\n\t}",
		},
	}
}

func importBreaks() []broken {
	return []broken{
		{
			name: "a checkpoint one too far", file: "client/import.go",
			old: "im.opts.Checkpoint(im.report.Confirmed)", new: "im.opts.Checkpoint(im.report.Confirmed + 1)",
		},
		{
			name: "a batch of unknown outcome is confirmed", file: "client/import_report.go",
			old: "s <= ImportRejected ||", new: "s <= ImportUnknown ||",
		},
		{
			name: "an import skips one too many", file: "client/import.go",
			old: "if n++; n <= im.opts.Skip {", new: "if n++; im.opts.Skip > 0 && n <= im.opts.Skip+1 {",
		},
		{
			name: "an import skips one too few", file: "client/import.go",
			old: "if n++; n <= im.opts.Skip {", new: "if n++; n < im.opts.Skip {",
		},
		{
			name: "who unsubscribed is made active", file: "client/import.go",
			old: "Resubscribe: opts.Resubscribe}", new: "Resubscribe: true}",
		},
		{
			name: "a batch that failed is said to be unknown, and one of unknown outcome to have failed", file: "client/import_report.go",
			old: "errors.Is(err, ErrOutcomeUnknown)", new: "!errors.Is(err, ErrOutcomeUnknown)",
		},
	}
}

func webhookBreaks() []broken {
	return []broken{
		{
			name: "a forgotten lock", file: "webhook/once.go",
			old: "m.running[key] = struct{}{}", new: "_ = key",
		},
		{
			name: "what failed is remembered", file: "webhook/once.go",
			old: "succeeded = err == nil", new: "succeeded = true",
		},
		{
			name: "what was handled is forgotten", file: "webhook/once.go",
			old: "m.handled[key] = struct{}{}", new: "_ = m.handled",
		},
		{
			name: "a duplicate in flight is answered with success", file: "webhook/handler.go",
			old: "return http.StatusServiceUnavailable\n", new: "return http.StatusNoContent\n",
		},
		{
			name: "a panic is answered with success", file: "webhook/handler.go",
			old: "o.Status, o.Err = http.StatusInternalServerError, &PanicError", new: "o.Status, o.Err = http.StatusNoContent, &PanicError",
		},
		{
			name: "a failure is answered with success", file: "webhook/handler.go",
			old: "\treturn http.StatusInternalServerError\n}", new: "\treturn http.StatusNoContent\n}",
		},
	}
}

func deliveryBreaks() []broken {
	return []broken{
		{
			name: "a lost redelivery", file: "mockserver/internal/delivery/engine.go",
			old: "\t\tq.later(x, d.clock.Now().", new: "\t\tif x.Tries == 2 {\n\t\t\treturn\n\t\t}\n\t\tq.later(x, d.clock.Now().",
		},
		{
			name: "a delivery is given up one attempt too early", file: "mockserver/internal/delivery/engine.go",
			old: "x.Tries > len(d.schedule)", new: "x.Tries >= len(d.schedule)",
		},
		{
			name: "a snapshot loses what is being delivered", file: "mockserver/internal/delivery/state.go",
			old: "x.State != record.DeliveryInFlight && ", new: "",
		},
		{
			name: "a snapshot forgets that the clock was set", file: "mockserver/internal/clock/clock.go",
			old: "return State{Ahead: Milliseconds(c.ahead)}", new: "return State{}",
		},
		{
			name: "lookups are refused after the clock went back", file: "mockserver/internal/platform/lookup.go",
			old: "if now.Before(s.last) {", new: "if now.IsZero() {",
		},
		{
			name: "a delivery is signed anew without its last byte", file: "mockserver/internal/delivery/engine.go",
			old: "d.target.post(d.ctx, x.URL, header, x.Body)", new: "d.target.post(d.ctx, x.URL, header, x.Body[:len(x.Body)-min(x.Tries, 1)])",
		},
		{
			name: "an id is used again", file: "mockserver/internal/random/random.go",
			old: "\tb[6], b[8] = b[6]", new: "\tclear(b[1:])\n\tb[6], b[8] = b[6]",
		},
		{
			name: "a signature is not looked at", file: "webhook/handler.go",
			old: "func status(ran bool, err error) int {", new: "func status(ran bool, err error) int {\n\tif errors.Is(err, ErrInvalidSignature) {\n\t\treturn http.StatusNoContent\n\t}",
			pkg: "./webhook", test: ".",
		},
	}
}

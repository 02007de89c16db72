package mockserver

import "context"

// Wait waits until all due work is done: every due campaign has been sent, and every due delivery has
// been attempted. It ignores deliveries whose webhook is archived or has exhausted its rate limit, and
// work that is scheduled for later, such as retries. To complete later work, use [Server.Advance] or
// [Server.Drain], or sleep in a testing/synctest bubble. Wait returns an error if ctx is canceled or
// expires.
func (s *Server) Wait(ctx context.Context) error {
	return prefixed("wait", s.engine.Wait(ctx, 0))
}

// WaitAccount is [Server.Wait] for one account, so parallel tests do not wait for each other. It
// ignores deliveries from [Server.SendEventTo], because these have no account. If the account does not
// exist, it returns an error.
func (s *Server) WaitAccount(ctx context.Context, accountID int64) error {
	return prefixed("wait", s.engine.Wait(ctx, accountID))
}

// Drain waits until every delivery has succeeded or failed permanently, even if deliveries must be
// retried or wait for a rate limit. It ignores deliveries to archived webhooks. Drain returns an
// error that lists the remaining deliveries if ctx is canceled or expires, if the server is closed,
// or if the clock is frozen.
func (s *Server) Drain(ctx context.Context) error {
	return prefixed("drain", s.engine.Drain(ctx, 0))
}

// DrainAccount waits until every delivery of one account has succeeded or failed
// permanently; see [Server.Drain]. It returns an error if the account does not exist.
func (s *Server) DrainAccount(ctx context.Context, accountID int64) error {
	return prefixed("drain", s.engine.Drain(ctx, accountID))
}

// WaitFor waits until the function f returns true. It calls f on the caller's goroutine, immediately
// and after every change to a message, a delivery, an event, a request, a fault, the clock or the whole
// state. The function can call the server's methods, such as [Server.OutboxTo]. It must not send
// requests to the API, because WaitFor would call f again after each request. WaitFor returns an error
// if ctx is canceled or expires in real time, or if the server is shut down or closed.
//
// WaitFor also calls f after each delivery, so f can read a variable that the webhook handler sets before
// it responds. For example, f can be the method Load of an atomic.Bool. However, WaitFor does not notice
// what the application changes after its response, for example in a queue. To wait for such a change, call
// time.Sleep(time.Minute) in a testing/synctest bubble, where sleeping takes no real time.
func (s *Server) WaitFor(ctx context.Context, f func() bool) error {
	return prefixed("wait", s.engine.WaitFor(ctx, f))
}

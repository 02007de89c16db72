// Package mockserver is the email platform in memory, for tests of
// applications that use it.
//
// The handler answers every operation of the API, holds every request against
// the API's document, keeps contacts, messages and webhooks as the
// specification says, and delivers signed events. A test does the rest by
// methods: [Server.Bounce] and the others act for recipients, [Server.Wait]
// waits until all is done, [Server.Outbox] and the others show what happened.
//
// # What is faithful
//
// Statuses, transitions, refusals, limits, events and their shapes are those of
// the specification, and where it is silent those of the decisions beside it.
// A deleted contact can still be read, with the status deleted, but no longer
// be changed. The deprecated POST /emails refuses nobody. An import makes no
// contact active that complained or bounced.
//
// # What is not
//
// Nothing is sent: a message arrives in the outbox at the moment it is
// submitted. Nothing is stored: Close forgets everything. All lists of an
// account are small enough for memory.
//
// # Deliveries
//
// Each webhook has a queue, which is worked off in order, one delivery after the
// other. A delivery that is not answered with 2xx within 10 seconds is tried
// again on [Config.RetrySchedule], always with the same bytes and signature.
// Attempts count against the webhook's rate limit in any window of its period.
// Receivers are loopback addresses, or handlers of the test itself by
// [Config.Targets], unless [Config.AllowTargets] says otherwise.
//
// # Time
//
// All waiting uses package time, so that a server made in a bubble of
// testing/synctest with [New] and reached by [Server.Transport] runs hours of
// retries in no time.
package mockserver

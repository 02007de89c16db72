// Package webhook receives the deliveries of the platform's webhooks.
package webhook

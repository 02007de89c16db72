// Package events decodes what the platform delivers to webhooks.
package events

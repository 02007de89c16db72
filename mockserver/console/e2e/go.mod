// The console in a real browser. A module of its own: chromedp stays out of the SDK's go.mod.
module example.com/emailplatform/mockserver/console/e2e

go 1.26.0

replace example.com/emailplatform => ../../..

require (
	example.com/emailplatform v0.0.0
	github.com/chromedp/cdproto v0.159.2
	github.com/chromedp/chromedp v0.23.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

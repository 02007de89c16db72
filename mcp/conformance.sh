#!/usr/bin/env bash
# Runs the official conformance suite of the Model Context Protocol against the
# server, over HTTP, for each revision of the protocol. Requires npx (Node.js).
set -euo pipefail
cd "$(dirname "$0")"

node=node@22.23.3
suite=@modelcontextprotocol/conformance@0.2.0-alpha.12

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

go build -o "$work/server" ./internal/conformance
"$work/server" >"$work/url" &
server=$!
for _ in $(seq 100); do [ -s "$work/url" ] && break; sleep 0.1; done
url=$(cat "$work/url")

for revision in 2025-11-25 2026-07-28; do
	echo "# revision $revision"
	npx --yes --loglevel=error -p "$node" -p "$suite" -- conformance server \
		--url "$url" --requirements "$revision" --expected-failures conformance-baseline.yml >"$work/log" 2>&1 ||
		{ cat "$work/log"; exit 1; }
	sed -n '/=== SUMMARY ===/,$p' "$work/log"
done

#!/usr/bin/env bash
# Tests the server with the official MCP inspector: lists the tools and calls each
# operation, over stdio and over HTTP, with the built-in mock server. Requires npx
# (Node.js).
set -euo pipefail
cd "$(dirname "$0")"

node=node@22.23.3
inspector=@modelcontextprotocol/inspector@2.12.0

# The script runs itself again with both tools in PATH.
if [ "${1:-}" != inside ]; then
	exec npx --yes --loglevel=error -p "$node" -p "$inspector" -- bash "$PWD/$(basename "$0")" inside
fi

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
go build -o "$work/emailplatform-mcp" ./cmd/emailplatform-mcp

fail() { # fail "what went wrong"
	echo "FAILED: $1"
	cat "$work/response" "$work/log"
	exit 1
}

inspect() { mcp-inspector --cli "${target[@]}" "$@" >"$work/response" 2>"$work/log"; }

expect() { # expect "name" "text in the response" arguments…
	local name=$1 want=$2
	shift 2
	inspect "$@" || fail "$name: exit status $?"
	grep -qF -- "$want" "$work/response" || fail "$name: no $want"
	echo "ok: $name"
}

expect_error() { # expect_error "name" "text of the tool error" arguments…
	local name=$1 want=$2
	shift 2
	! inspect "$@" || fail "$name: exit status 0"
	grep -qF '"isError": true' "$work/response" || fail "$name: no tool error"
	grep -qF -- "$want" "$work/response" || fail "$name: the error does not contain $want"
	echo "ok: $name"
}

call() { echo --method tools/call --tool-name "$1"; }

everything() {
	expect "tools/list has contacts" '"name": "contacts"' --method tools/list
	expect "tools/list has tags" '"name": "tags"' --method tools/list
	expect "contacts, list" '"email": "ada@example.com"' $(call contacts) --tool-arg operation=list list_id=1
	expect "contacts, create" '"first_name": "Alan"' $(call contacts) --tool-arg operation=create list_id=1 \
		email="$1" 'custom_attributes={"first_name":"Alan"}'
	expect "tags, list" '"vip"' $(call tags) --tool-arg operation=list
	expect_error "an unknown operation" 'must be \"list\" or \"create\"' $(call contacts) --tool-arg operation=delete list_id=1
	expect_error "an unknown list" 'no list with this list_id' $(call contacts) --tool-arg operation=list list_id=999
}

echo "# stdio"
target=("$work/emailplatform-mcp" -demo)
everything turing@example.com

echo "# HTTP"
"$work/emailplatform-mcp" -demo -http 127.0.0.1:0 2>"$work/server" &
server=$!
for _ in $(seq 100); do grep -q Serving "$work/server" && break; sleep 0.1; done
target=("$(sed -n 's/^Serving MCP at //p' "$work/server")" --transport http --header "Authorization: Bearer dev-token")
everything hopper@example.com
target[4]="Authorization: Bearer unknown"
! inspect $(call tags) --tool-arg operation=list || fail "an unknown token: exit status 0"
grep -qF auth_required "$work/response" "$work/log" || fail "an unknown token: the response does not require another token"
echo "ok: an unknown token"

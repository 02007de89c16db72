#!/usr/bin/env bash
# Uses the server as an assistant does, with the official MCP inspector: lists the
# tools and calls each operation, over stdio and over HTTP, against the platform
# that is built in. Needs npx (Node.js).
set -euo pipefail
cd "$(dirname "$0")"

node=node@22.23.3
inspector=@modelcontextprotocol/inspector@2.12.0

# The script runs itself again with both on its path.
if [ "${1:-}" != inside ]; then
	exec npx --yes --loglevel=error -p "$node" -p "$inspector" -- bash "$PWD/$(basename "$0")" inside
fi

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
go build -o "$work/emailplatform-mcp" ./cmd/emailplatform-mcp

fail() { # fail "what went wrong"
	echo "FAILED: $1"
	cat "$work/answer" "$work/log"
	exit 1
}

inspect() { mcp-inspector --cli "${target[@]}" "$@" >"$work/answer" 2>"$work/log"; }

expect() { # expect "what is tried" "what the answer must hold" arguments…
	local name=$1 want=$2
	shift 2
	inspect "$@" || fail "$name: exit status $?"
	grep -qF -- "$want" "$work/answer" || fail "$name: no $want"
	echo "ok: $name"
}

refuse() { # refuse "what is tried" "what the tool error must say" arguments…
	local name=$1 want=$2
	shift 2
	! inspect "$@" || fail "$name: exit status 0"
	grep -qF '"isError": true' "$work/answer" || fail "$name: no tool error"
	grep -qF -- "$want" "$work/answer" || fail "$name: does not say $want"
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
	refuse "a wrong operation" 'must be \"list\" or \"create\"' $(call contacts) --tool-arg operation=delete list_id=1
	refuse "an unknown list" 'no list with this list_id' $(call contacts) --tool-arg operation=list list_id=999
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
grep -qF auth_required "$work/answer" "$work/log" || fail "an unknown token: nobody asks for another"
echo "ok: an unknown token"

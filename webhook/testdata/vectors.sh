#!/bin/sh
# Writes vectors.json: signatures of openssl, which test the package against another implementation.
# Run it in this directory: sh vectors.sh
set -eu
export LC_ALL=C

# sign HASH KEY: prints the signature of standard input. The key is hexadecimal, so it can contain any byte.
sign() {
	hex=$(printf %s "$2" | od -An -v -tx1 | tr -d ' \n')
	openssl dgst "-$1" -mac HMAC -macopt "hexkey:$hex" -binary | openssl base64 -A
}

# quote TEXT: prints a JSON string. The text must not contain control characters.
quote() { printf '"%s"' "$(printf %s "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

repeat() { # TEXT TIMES
	text=$1 times=$2 awk 'BEGIN { for (i = 0; i < ENVIRON["times"]; i++) printf "%s", ENVIRON["text"] }'
}

separator=''
# row NAME SIGNER TEXT TIMES HASH KEY [HASH KEY]...: the body is TEXT, repeated TIMES times; the secret with number SIGNER signs it.
row() {
	name=$1 signer=$2 text=$3 times=$4 secrets='' n=0 signature=''
	shift 4
	while [ $# -gt 0 ]; do
		n=$((n + 1))
		secrets="$secrets${secrets:+, }{\"hash\": \"$1\", \"key\": $(quote "$2")}"
		if [ "$n" = "$signer" ]; then signature=$(repeat "$text" "$times" | sign "$1" "$2"); fi
		shift 2
	done
	printf '%s\n  {\n    "name": "%s",\n    "secrets": [%s],\n    "text": %s,\n    "times": %s,\n    "signature": "%s"\n  }' \
		"$separator" "$name" "$secrets" "$(quote "$text")" "$times" "$signature"
	separator=','
}

event='{"id":"5c0b1e6e-3f0e-4a52-9d5a-0e6d3f0f7a11","event":"SuppressedEmail.Added","created_on":1700000000,"data":{"suppressedEmail":{"email":"a@example.com"}}}'
words='{"event":"Contact.Added","data":{"name":"Grüße, 世界 🚀 — \"quoted\" \\ backslash"}}'
long=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
{
	printf '['
	for hash in sha256 sha512; do
		row "$hash, event" 1 "$event" 1 $hash 'whsec_test'
		row "$hash, empty body" 1 '' 0 $hash 'whsec_test'
		row "$hash, body of 1 MiB" 1 '0123456789abcdef' 65536 $hash 'whsec_test'
		row "$hash, non-ASCII body" 1 "$words" 1 $hash 'whsec_test'
		row "$hash, non-ASCII key" 1 "$event" 1 $hash 'Schlüssel 🔑'
		row "$hash, key of one byte" 1 "$event" 1 $hash 'k'
		row "$hash, key longer than a block" 1 "$event" 1 $hash "$long"
		row "$hash, first of two secrets" 1 "$event" 1 $hash 'old' $hash 'new'
		row "$hash, last of three secrets" 3 "$event" 1 $hash 'old' $hash 'new' $hash 'newest'
	done
	row 'secrets of both functions, sha256 signs' 1 "$event" 1 sha256 'one' sha512 'two'
	row 'secrets of both functions, sha512 signs' 2 "$event" 1 sha256 'one' sha512 'two'
	row 'one key with both functions, sha512 signs' 2 "$event" 1 sha256 'same' sha512 'same'
	printf '\n]\n'
} >vectors.json

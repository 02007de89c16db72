# Frequent commands. CONTRIBUTING.md describes the others.

.PHONY: help test lint format generate fast gate

help: ## list the targets
	@sed -n 's/^\([a-z]*\): ## \(.*\)/\1	\2/p' Makefile | expand -t 12

test: ## run the tests of all modules that need only Go
	@bash -ec '. .ci/steps; all_go_tests'

lint: ## run golangci-lint and the checks of the English text
	bash .ci/run lint prose

format: ## format JavaScript, TypeScript and CSS with Prettier, and Go with golangci-lint
	.ci/format
	go tool -modfile=internal/tools/pins/lint/go.mod golangci-lint fmt

generate: ## write all generated files and golden files
	go generate ./...
	cd mcp && go generate ./...
	npm --prefix npm ci --prefer-offline --loglevel=error
	npm --prefix npm run generate

fast: ## check the format, the documents and the changed packages in less than a minute
	bash .ci/run fast

gate: ## run all checks, as in CI for each change
	bash .ci/run

# Frequent commands. CONTRIBUTING.md describes the others.

.PHONY: help test lint generate fast gate

help: ## list the targets
	@sed -n 's/^\([a-z]*\): ## \(.*\)/\1	\2/p' Makefile | expand -t 12

test: ## run the tests of all modules that need only Go
	@bash -ec '. .ci/steps; all_go_tests'

lint: ## run golangci-lint and the checks of the English text
	bash .ci/run lint prose

generate: ## write all generated files and golden files
	go generate ./...
	cd mcp && go generate ./...
	npm --prefix npm ci --prefer-offline --loglevel=error
	npm --prefix npm run generate

fast: ## check the format, the documents and the changed packages in less than a minute
	bash .ci/run fast

gate: ## run all checks, as in CI for each change
	bash .ci/run

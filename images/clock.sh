#!/bin/sh
# Builds the library `clock.so` for the C library of this system.
# On Debian or Ubuntu it installs what that takes; on any other it works as long as nothing is missing.
set -eu
export LC_ALL=C
what='the library that moves clocks'
missing=

command -v cc >/dev/null || command -v gcc >/dev/null || missing="$missing gcc"
command -v make >/dev/null || missing="$missing make"
[ -e /usr/include/time.h ] || missing="$missing libc6-dev"

if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "paritygate: $what cannot be built: the base image has no apt-get and lacks:$missing"
        exit 1
    fi
    apt-get update
    # shellcheck disable=SC2086
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; then
        echo "paritygate: $what cannot be built: the image's distribution does not give:$missing"
        exit 1
    fi
fi

mkdir -p /tmp/clock
if ! make -C /opt/paritygate/recipe/clock OUT=/tmp/clock CC="$(command -v cc || command -v gcc)"; then
    echo "paritygate: $what cannot be built here: it takes the headers of a C library such as that of Debian 12"
    exit 1
fi
install -m 0755 /tmp/clock/clock.so /opt/paritygate/clock.so

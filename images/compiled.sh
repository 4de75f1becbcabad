#!/bin/sh
# Builds C sources by their own Makefile; `needs.sh` beside them says what they become and what that takes.
# On Debian or Ubuntu it installs what is missing; on any other it works as long as nothing is.
set -eu
export LC_ALL=C
sources=/opt/paritygate/recipe/sources
compiler=$(command -v cc || command -v gcc || true)
missing=

needs_program() {
    command -v "$1" >/dev/null || missing="$missing $2"
}

needs_file() {
    [ -e "$1" ] || missing="$missing $2"
}

needs_library() {
    [ -n "$compiler" ] && [ -e "$("$compiler" -print-file-name="$1")" ] || missing="$missing $2"
}

[ -n "$compiler" ] || missing="$missing gcc"
needs_program make make
. $sources/needs.sh

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

mkdir -p /tmp/made
# shellcheck disable=SC2086
if ! make -C $sources $options OUT=/tmp/made CC="$(command -v cc || command -v gcc)"; then
    echo "paritygate: $what cannot be built here: it takes $takes"
    exit 1
fi
install -m 0755 "/tmp/made/$made" "/opt/paritygate/$made"

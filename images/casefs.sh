#!/bin/sh
# Builds the daemon `casefs` without any library beside it, so that it runs on every system of this architecture.
# On Debian or Ubuntu it installs what that takes; on any other it works as long as nothing is missing.
set -eu
export LC_ALL=C
sources=/opt/paritygate/recipe/casefs
program=/opt/paritygate/casefs
what='the case-folding filesystem'
compiler=$(command -v cc || command -v gcc || true)
missing=

lacks_library() {
    [ -z "$compiler" ] || [ ! -e "$("$compiler" -print-file-name="$1")" ]
}

[ -n "$compiler" ] || missing="$missing gcc"
command -v make >/dev/null || missing="$missing make"
command -v pkg-config >/dev/null || missing="$missing pkg-config"
if lacks_library libc.a; then missing="$missing libc6-dev"; fi
if lacks_library libfuse3.a; then missing="$missing libfuse3-dev"; fi

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

mkdir -p /tmp/casefs
if ! make -C $sources STATIC=1 OUT=/tmp/casefs CC="$(command -v cc || command -v gcc)"; then
    echo "paritygate: $what cannot be built here: it takes a C library and a libfuse as new as those of Debian 12 or Ubuntu 22.04"
    exit 1
fi
install -m 0755 /tmp/casefs/casefs $program
$program --version

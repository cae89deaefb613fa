#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Install missing Debian packages: install-deps.sh build [check]. Needs root or sudo only when
# something is missing. The reason for each package is in docs/dependencies.md.
set -eu

packages=""
need() { # need FILE-PATTERN-OR-COMMAND PACKAGE
    case $1 in
    /*)
        for f in $1; do
            [ -e "$f" ] && return 0
        done
        ;;
    *) command -v "$1" >/dev/null 2>&1 && return 0 ;;
    esac
    packages="$packages $2"
}

for set in "$@"; do
    case $set in
    build)
        need gcc gcc
        need '/usr/include/*/sys/types.h' libc6-dev
        need cmake cmake
        need ninja ninja-build
        need pkg-config pkg-config
        need "/usr/lib/$(uname -m)-linux-gnu/libnettle.a" nettle-dev
        need "/usr/lib/$(uname -m)-linux-gnu/libb2.a" libb2-dev
        need "/usr/lib/$(uname -m)-linux-gnu/libyajl_s.a" libyajl-dev
        need "/usr/include/$(uname -m)-linux-gnu/curl/curl.h" libcurl4-openssl-dev
        need /usr/include/sqlite3.h libsqlite3-dev
        need /usr/include/hwloc.h libhwloc-dev
        need /usr/include/zlib.h zlib1g-dev
        need gzip gzip
        # the proving server
        need g++ g++
        need /usr/include/toml++/toml.h libtomlplusplus-dev
        need /usr/include/microhttpd.h libmicrohttpd-dev
        need /usr/include/systemd/sd-daemon.h libsystemd-dev
        need protoc protobuf-compiler
        need protoc-c protobuf-c-compiler
        need /usr/include/protobuf-c/protobuf-c.h libprotobuf-c-dev
        need /usr/include/grpc/grpc.h libgrpc-dev
        need /usr/include/openssl/pem.h libssl-dev
        ;;
    check)
        need git git
        need /usr/include/cmocka.h libcmocka-dev
        need clang clang
        need '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' libclang-rt-14-dev
        need '/usr/lib/gcc/*/*/libtsan.so' libtsan2
        need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
        need qemu-aarch64 qemu-user
        # the same libraries for the second architecture; libyajl-dev exists for one at a time, so
        # there the shared library is linked
        need /usr/lib/aarch64-linux-gnu/libnettle.a nettle-dev:arm64
        need /usr/lib/aarch64-linux-gnu/libb2.a libb2-dev:arm64
        need /usr/lib/aarch64-linux-gnu/libyajl.so.2 libyajl2:arm64
        need /usr/lib/aarch64-linux-gnu/libcmocka.so libcmocka-dev:arm64
        need /usr/lib/aarch64-linux-gnu/libz.so zlib1g-dev:arm64
        need python3 python3
        need openssl openssl
        need /usr/lib/python3/dist-packages/grpc/__init__.py python3-grpcio
        need /usr/lib/python3/dist-packages/google/protobuf/__init__.py python3-protobuf
        need protoc protobuf-compiler
        need node nodejs
        need npm npm # Debian's brings 350 packages; a build without it has a page without charts
        ;;
    *)
        echo "install-deps.sh: unknown set \"$set\"; known: build check" >&2
        exit 2
        ;;
    esac
done

[ -n "$packages" ] || exit 0
sudo=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "missing Debian packages:$packages; run as root or install sudo" >&2
        exit 1
    }
    sudo=sudo
fi
echo "installing Debian packages:$packages"
case $packages in
*:arm64*) $sudo dpkg --add-architecture arm64 ;;
esac
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $packages \
    >/dev/null

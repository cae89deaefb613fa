# SPDX-License-Identifier: MIT OR Apache-2.0
# Toolchain: cross build for 64-bit ARM with Debian's packages (gcc-aarch64-linux-gnu and the
# libraries' :arm64 packages); programs and tests run under qemu-aarch64 (qemu-user).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# headers are the same for both architectures; libraries come from /usr/lib/aarch64-linux-gnu
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)

# The daemon `casefs`, without any library beside it, so that it runs on every system of this architecture.
what='the case-folding filesystem'
made=casefs
options=STATIC=1
takes='a C library and a libfuse as new as those of Debian 12 or Ubuntu 22.04'
needs_program pkg-config pkg-config
needs_library libc.a libc6-dev
needs_library libfuse3.a libfuse3-dev

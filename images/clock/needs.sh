# The library `clock.so`, for the C library of this system.
what='the library that moves clocks'
made=clock.so
options=
takes='the headers of a C library such as that of Debian 12'
needs_file /usr/include/time.h libc6-dev

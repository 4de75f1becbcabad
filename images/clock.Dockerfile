# The library `clock.so` alone: built where there is a compiler, and taken out of all that this takes.
# It must build with the classic builder as with newer ones: no mounts, no here-documents.
ARG BASE
FROM ${BASE} AS builder
USER 0:0
COPY clock.sh /opt/paritygate/recipe/
COPY clock /opt/paritygate/recipe/clock
RUN sh /opt/paritygate/recipe/clock.sh
FROM scratch
COPY --from=builder /opt/paritygate/clock.so /opt/paritygate/clock.so

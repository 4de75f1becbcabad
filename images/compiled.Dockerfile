# A program or library of C alone: built where there is a compiler, and taken out of all that this takes.
# It must build with the classic builder as with newer ones: no mounts, no here-documents.
ARG BASE
FROM ${BASE} AS builder
USER 0:0
COPY compiled.sh /opt/paritygate/recipe/
COPY sources /opt/paritygate/recipe/sources
RUN sh /opt/paritygate/recipe/compiled.sh
FROM scratch
ARG MADE
COPY --from=builder /opt/paritygate/${MADE} /opt/paritygate/${MADE}

# The daemon `casefs` alone: built where there is a compiler, and taken out of all that this takes.
# It must build with the classic builder as with newer ones: no mounts, no here-documents.
ARG BASE
FROM ${BASE} AS builder
USER 0:0
COPY casefs.sh /opt/paritygate/recipe/
COPY casefs /opt/paritygate/recipe/casefs
RUN sh /opt/paritygate/recipe/casefs.sh
FROM scratch
COPY --from=builder /opt/paritygate/casefs /opt/paritygate/casefs

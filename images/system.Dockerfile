# The system layer: what cells need of the distribution, the tests' user, the locales, and an empty virtual environment.
# It must build with the classic builder as with newer ones: no mounts, no here-documents.
ARG BASE
FROM ${BASE}
USER 0:0
COPY system.sh near_locales.py packages.txt locales.txt /opt/paritygate/recipe/
RUN sh /opt/paritygate/recipe/system.sh
ENV PATH=/opt/paritygate/venv/bin:${PATH} VIRTUAL_ENV=/opt/paritygate/venv
WORKDIR /parity/workspace

# An environment layer: the values of one environment, the files that run in its cells, and a manifest of both.
ARG BASE
FROM ${BASE}
ARG TIMEZONE
ARG LOCALE
ARG WORKERS
RUN test -f "/usr/share/zoneinfo/${TIMEZONE}" || { echo "paritygate: the image knows no time zone \`${TIMEZONE}\`"; exit 1; }; \
    ln -sf "/usr/share/zoneinfo/${TIMEZONE}" /etc/localtime && echo "${TIMEZONE}" >/etc/timezone
ENV TZ=${TIMEZONE} LC_ALL=${LOCALE} LANG=${LOCALE} PARITYGATE_WORKERS=${WORKERS}
COPY environment.toml /opt/paritygate/environment.toml
COPY guest /opt/paritygate/guest
RUN /opt/paritygate/python -I -S -m compileall -q /opt/paritygate/guest
WORKDIR /parity/workspace

# The server in a container: `docker build -t rosenblatt .`; docs/do/operations.md says how to run it.
FROM python:3.13.9-slim-bookworm AS build

WORKDIR /source
COPY constraints.txt pyproject.toml README.md LICENSE SECURITY.md CHANGELOG.md CITATION.cff ./
COPY src ./src
ENV PIP_BUILD_CONSTRAINT=/source/constraints.txt
RUN python -m venv /opt/rosenblatt \
    && /opt/rosenblatt/bin/pip install --no-cache-dir --constraint constraints.txt ".[server]"

FROM python:3.13.9-slim-bookworm

# Loops are compiled when the image is built, so that a container starts at once. Only the data folder is written to.
ENV PATH=/opt/rosenblatt/bin:$PATH \
    NUMBA_CACHE_DIR=/opt/numba \
    PYTHONDONTWRITEBYTECODE=1
COPY --from=build /opt/rosenblatt /opt/rosenblatt
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin rosenblatt \
    && install -d -m 0700 -o rosenblatt -g rosenblatt /data \
    && install -d -o rosenblatt -g rosenblatt /opt/numba
USER 10001:10001
RUN rosenblatt compile --all --quiet

VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://localhost:8000/healthz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["rosenblatt", "serve", "--data", "/data", "--host", "0.0.0.0", "--port", "8000"]

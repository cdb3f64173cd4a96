# The service. Keys are printed once, by the first start: docker compose logs api
FROM python:3.13-slim
WORKDIR /app
COPY . .
# hadolint ignore=DL3013 # what is installed is this folder; its versions are in pyproject.toml
RUN pip install --no-cache-dir '.[service,s3,otel]' && useradd --uid 1000 --create-home silica && install -d -o silica /data
USER 1000
ENV SILICA_MEMORY_PATH=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz')"]
CMD ["silica", "serve", "--host", "0.0.0.0"]

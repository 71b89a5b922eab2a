# The image of a worker, for Dataflow and for runners that start containers: Node and emitted JavaScript, nothing to build with.
#   docker build --tag REGISTRY/gleaner/worker:TAG .
# And that of the launcher, which a schedule starts: the commands, and Beam's job service for Dataflow, which is a Python program.
#   docker build --target launcher --tag REGISTRY/gleaner/launcher:TAG .

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY schemas ./schemas
COPY core ./core
COPY ports ./ports
COPY transforms ./transforms
COPY io ./io
COPY beam ./beam
COPY pipelines ./pipelines
RUN node pipelines/commands/build.ts

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The packages' own install scripts fetch or compile; none is needed: Node 24 is the image's.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim AS launcher
ENV NODE_ENV=production
WORKDIR /app
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/job-service && /opt/job-service/bin/pip install --no-cache-dir 'apache-beam[gcp]==2.77.0'
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn*
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/dist ./dist
USER 1000:1000
# A command and its flags follow: daily --stores cloud --project P …
ENTRYPOINT ["node", "/app/dist/pipelines/container/launcher.js"]

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# Who gets into a worker finds no package manager.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn*
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/dist ./dist
# With GLEANER_HEALTH_PORT=8081 in its environment a worker answers GET /healthz there: 200 while it works, 503 while it starts or ends.
# Without it nothing listens. No HEALTHCHECK: runners and clusters do not read it, and it would start a Node each time.
EXPOSE 8081
# node's own account, by number so that a cluster can see that it is not root.
USER 1000:1000
# Runners add --id, --provision_endpoint and the other arguments of Beam's container contract.
ENTRYPOINT ["node", "/app/dist/pipelines/container/main.js"]

#!/usr/bin/env bash
# modes: throughput politeness
# Gleaner as a contender of ../shared/peers-bench, durable as always; GLEANER_FLAGS="--documents true" writes main texts, too.
set -euo pipefail
project=$(cd "$(dirname "$0")/../../.." && pwd)
node=$project/node_modules/node/bin/node
if [ "$1" = setup ]; then
  [ -x "$node" ] && [ -d "$project/node_modules/undici" ] || { echo "no node_modules: npm ci in $project first"; exit 77; }
  exit 0
fi
pace="--delay-ms ${PEERS_DELAY}000 --host-concurrency $([ "$PEERS_DELAY" = 0 ] && echo 4 || echo 1) --idle-horizon $((PEERS_DELAY * 2))"
exec "$node" "$project/pipelines/commands/crawl.ts" "$1" --data "$(mktemp -d "$PEERS_SCRATCH/gleaner.XXXXXX")/data" \
  --scope any --allow-address 127.0.0.0/8 --stop-when-idle=true $pace ${GLEANER_FLAGS:---documents false}

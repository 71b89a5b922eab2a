// What the crawl command says of itself.
import { limits } from "../schemas/limits.ts";
import { exitCodes } from "./exit-codes.ts";

export const crawlHelp = `Gleaner crawls sites politely and keeps everything durable.

  npm run crawl -- URL… [options]

What to crawl
  --seeds FILE              more seeds, one URL a line, # begins a comment
  --sitemaps                follow the hosts' sitemaps
  --scope host|domain|any   same host name, any scheme or port (default); same registrable domain; no bound
  --include PATTERN         anchored globs over the canonical URL: * within a path segment, ** across;
  --exclude PATTERN         repeatable, the last match wins; with an include, what matches nothing is left out
  --max-pages N             pages of the whole crawl, over all runs on the same data; with --engine embedded only
  --max-pages-per-host N    default ${limits.pagesPerHost}
  --max-depth N             links from the nearest seed, default ${limits.depthMax}
  --accept-types TYPES      media types to keep beyond HTML, XHTML, text, sitemaps and feeds: application/pdf,image/*

How politely
  --delay-ms N              from an answer to the next request to the same host, default ${limits.delayMs}
  --host-concurrency N      requests to one host at once, default ${limits.hostConcurrency}
                            below ${limits.delayMsMin} or above 1 only for hosts behind --allow-address or named in --policies
  --policies FILE           what was agreed with owners: {"version": 1, "hosts": [{"host": "example.org", "delayMs": 200,
                            "concurrency": 2, "pagesMax": 1000, "paused": false}]}; *.example.org and name:port are possible
  --user-agent NAME         default Gleaner/VERSION; its first word is what robots.txt is read for
  --contact URL|MAIL        how site owners reach you; required for any address that is not loopback

How
  --stores local|cloud      a data directory (default), or Bigtable, Pub/Sub and Cloud Storage; npm run set-up makes those
  --data DIR                local: everything durable, default ./data; the same folder resumes
  --durability power|process  local: what a commit survives: a power cut (default), or only the end of the process
  --project P               cloud: the project; the same project and names resume
  --instance I              cloud: of Bigtable, default gleaner
  --bucket B                cloud: of Cloud Storage, default PROJECT-CRAWL
  --crawl NAME              cloud: what the names of tables and topics begin with, default gleaner
  --app-profile A           cloud: of Bigtable, with single-cluster routing; default the instance's own
  --engine embedded|prism|flink|dataflow  this process (default), or, with cloud stores, a job of another engine: one of Prism or
                            Flink until Ctrl-C cancels it, one of Dataflow until it is drained (docs/dataflow.md)
  --endpoint HOST:PORT      the engine's job service; dataflow: Beam's, in Python
  --job-name NAME           default crawl-NAME of the crawl
  --worker-command PATH     prism, flink: a program that runs pipelines/container on the engine's machines; without it workers
                            run in this process
  --image IMAGE             dataflow: of a worker (Dockerfile), with its tag or digest
  --region R                dataflow: of the job
  --template FILE           dataflow: writes the job's template to FILE or gs://BUCKET/OBJECT, and starts nothing
  --update                  dataflow: replaces the running job of that name
  --workers N               dataflow: at the start; --fetchers holds for each of them
  --max-workers N           dataflow: beyond which it adds none
  --machine-type T          dataflow: of a worker, such as n2-standard-4
  --service-account MAIL    dataflow: whose rights workers have; default the project's own account for them
  --subnetwork S            dataflow: regions/REGION/subnetworks/NAME
  --public-ips true|false   dataflow: whether workers have addresses of their own; without them a NAT has to be there
  --documents true|false    write main text, headings and structured data of pages, default true
  --fetchers N              requests under way at once over all hosts, default ${limits.fetchers}
  --timeout-ms N            one request in all, default ${limits.requestMs}
  --idle-horizon SECONDS    the crawl is idle when nothing but revisits is due within it, default 120
  --stop-when-idle=false    go on waiting (the default with --scope any and no --max-pages)
  --allow-address CIDR      let the address guard pass these non-public addresses; repeatable
  --connect-to PATTERN=HOST:PORT  where to connect for hosts that match, a glob over host:port; repeatable

What it says
  --json                    one report object on stdout, everything else on stderr
  --verbose                 log what happens to single requests
  -h, --help

Ctrl-C ends it cleanly, a second one at once; the same command resumes.
Exit codes: ${exitCodes.done} done, ${exitCodes.limit} page limit reached, ${exitCodes.nothingFetched} nothing could be fetched, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} the stores cannot be used,
            ${exitCodes.interrupted} interrupted, ${exitCodes.fault} an error of ours.

  npm run inspect -- URL --data DIR   what is known of one URL
  npm run explain -- HOST --data DIR  why a host is or is not being fetched
`;

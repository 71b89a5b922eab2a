"""Where do the links of a site lead? A walk of its own, by Python's html.parser and urllib alone.

walk-site.py PORT HOST START PREFIX: asks 127.0.0.1:PORT for START, then for all under PREFIX that links and redirects lead to; prints
a JSON object from each path to its status.
"""

import html.parser
import http.client
import json
import sys
import urllib.parse

PAGES_MAX = 5000


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.base = ""
        self.found = []

    def handle_starttag(self, tag, attributes):
        given = dict(reversed(attributes))
        href = given.get("href")
        if href is None:
            return
        if tag == "base":
            self.base = self.base or href
        elif tag in ("a", "area") and "nofollow" not in (given.get("rel") or "").lower().split():
            self.found.append(href)


def targets(url, hrefs, base=""):
    start = urllib.parse.urljoin(url, base)
    for href in hrefs:
        try:
            yield urllib.parse.urlsplit(urllib.parse.urljoin(start, href.strip()))
        except ValueError:
            pass


def walk(port, host, start, prefix):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    statuses, waiting = {}, [start]
    while waiting and len(statuses) < PAGES_MAX:
        path = waiting.pop()
        if path in statuses:
            continue
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        body = answer.read()
        statuses[path] = answer.status
        url, base, hrefs = f"http://{host}{path}", "", []
        if answer.status in (301, 302, 307, 308):
            hrefs = [answer.headers["Location"]]
        elif answer.status == 200 and answer.headers.get_content_type() == "text/html":
            links = Links()
            links.feed(body.decode("utf-8", "replace"))
            base, hrefs = links.base, links.found
        for target in targets(url, hrefs, base):
            if target.scheme == "http" and target.netloc == host and (target.path or "/").startswith(prefix):
                waiting.append((target.path or "/") + (f"?{target.query}" if target.query else ""))
    return statuses


print(json.dumps(walk(int(sys.argv[1]), *sys.argv[2:])))

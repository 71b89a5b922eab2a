// Does the sort key equal the one that Wayback machines look up? Expected values are those of Python's surt 0.3.1.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { surt } from "../../../core/warc/surt.ts";

const keys: [url: string, key: string][] = [
  ["http://www.Example.com/a/b?x=1", "com,example)/a/b?x=1"],
  ["http://example.com:8080/", "com,example:8080)/"],
  ["https://example.com:443", "com,example)/"],
  ["https://a.b:80/", "b,a:80)/"],
  ["http://1.2.3.4/x", "4,3,2,1)/x"],
  ["http://[2001:db8::1]:8080/a", "2001:db8::1:8080)/a"],
  ["http://user@example.com/x#frag", "com,example)/x"],
  ["http://www.www.foo.com/", "com,foo,www)/"],
  ["http://xn--bcher-kva.example/%C3%A4?q=%20A", "example,xn--bcher-kva)/%c3%a4?q=%20a"],
  ["http://a.b:80/x//y/../z/", "b,a)/x/z"],
  ["http://a.b/%2525%41?x=%26&a", "b,a)/%25a?&a&x="],
  ["http://a.b/x?", "b,a)/x"],
  ["http://a.b?x=1", "b,a)/?x=1"],
  ["http://a.b/c%20d?%23", "b,a)/c%20d?%23"],
  ["http://a.b/?b&a=&a&a=0", "b,a)/?a&a=&a=0&b"],
  ["http://www2.foo.com/A?b=2&a=1&PHPSESSID=0123456789abcdef0123456789abcdef", "com,foo)/a?&a=1&b=2"],
  ["http://a.b/x;jsessionid=ABCDEF?q", "b,a)/x;jsessionid=abcdef?q"],
];
for (const [url, key] of keys)
  test(`${url} sorts as ${key}`, () => {
    assert.equal(surt(url), key);
  });

test("law: any text gives a key that keeps a line whole", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => assert.match(surt(`http://${text}`), /^[!-~]*$/)));
});

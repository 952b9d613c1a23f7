# Crawls: WARC and WET files, one gzip member per record; dedup keeps all records but the removed documents.
cat >make.py <<'P'
import gzip
def record(kind, fields, content):
    header = f"WARC/1.0\r\nWARC-Type: {kind}\r\n{fields}Content-Length: {len(content)}\r\n\r\n"
    return header.encode() + content + b"\r\n\r\n"
def page(uri, body, fields=""):
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{fields}\r\n".encode()
    request = record("request", f"WARC-Target-URI: {uri}\r\nContent-Type: application/http\r\n", b"GET /\r\n\r\n")
    return [request, record("response", f"WARC-Target-URI: {uri}\r\nContent-Type: application/http\r\n", http + body)]
def text(uri, body):
    return record("conversion", f"WARC-Target-URI: {uri}\r\nContent-Type: text/plain\r\n", body)
one = "<h1>Grüße</h1><p>one page of some words that stands here twice</p>".encode()
info = [record("warcinfo", "Content-Type: application/warc-fields\r\n", b"software: make.py\r\n")]
first, second = page("http://a/1", one), page("http://a/2", b"<!-- the same --><div>" + one.replace(b"<p>", b"<p id=2>"))
other = page("http://a/3", b"quite another page, with &lt;words&gt; of its own")
broken = page("http://a/4", b"?", "Content-Encoding: br\r\n")
crawl = info + first + second + other + broken
open("a.warc", "wb").write(b"".join(crawl))
open("a.warc.gz", "wb").write(b"".join(gzip.compress(r) for r in crawl))
open("expected.warc", "wb").write(b"".join(info + first + second[:1] + other + broken[:1]))
open("b.warc.wet.gz", "wb").write(b"".join(map(gzip.compress, info + [text("http://b/1", b"one text of some words"), text("http://b/2", b"one text of some words")])))
P
python3 make.py
"$COGNATE" dedup a.warc -o kept.warc --clusters - --rejects r.warc 2>errors
echo "exit $?"
cat errors
cmp kept.warc expected.warc && echo "byte for byte"
grep -c 'WARC-Type' r.warc
"$COGNATE" dedup a.warc.gz -o kept.warc.gz --quiet && zcat kept.warc.gz | cmp - expected.warc && echo "members: the same"
cat a.warc.gz | "$COGNATE" dedup - -o - --quiet 2>/dev/null | cmp - expected.warc && echo "from a pipe: the same"
"$COGNATE" dedup a.warc b.warc.wet.gz -o out/ --quiet && cmp out/a.warc expected.warc && zcat out/b.warc.wet.gz | tr -d '\r' | grep -v '^$'
"$COGNATE" dedup b.warc.wet.gz -o kept.wet --quiet && "$COGNATE" dedup kept.wet -o again.wet && cmp kept.wet again.wet
"$COGNATE" pairs a.warc --input-format wet --measure jaccard --quiet
head -c 700 a.warc >cut.warc
"$COGNATE" dedup cut.warc -o no.warc 2>&1
echo "exit $?"
head -c 700 a.warc.gz >cut.warc.gz
"$COGNATE" dedup cut.warc.gz -o no.warc 2>&1
echo "exit $?"

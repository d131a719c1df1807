#!/usr/bin/env python3
"""Reads, follows and changes a base station, and receives its RTCM. Uses the standard library only (Python 3.8 or later)."""

import argparse
import http.client
import json
import os
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT_S = 10
# A subscription lasts 60 s, and a datagram may get lost.
RENEWAL_S = 30
# The largest document has 65,536 bytes, an event a little more.
LARGEST_BYTES = 1 << 20


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A station never redirects: the token must not go to another host."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def request(base, path, body=None, token=None):
    """The open answer of the station; a body makes it a POST."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    return opener.open(urllib.request.Request(base.rstrip("/") + path, data, headers), timeout=TIMEOUT_S)


def json_object(answer):
    """The JSON object of an answer. Anything else raises ValueError."""
    text = answer.read(LARGEST_BYTES + 1)
    if len(text) > LARGEST_BYTES:
        raise ValueError(f"an answer of more than {LARGEST_BYTES} bytes")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"not a JSON object: {text[:40]!r}")
    return found


def printable(value):
    """Text of the station for a terminal: without control characters."""
    return "".join(c if c.isprintable() else "?" for c in str(value))


def value_at(document, path):
    """`gnss.state.status` of the document; None where there is none."""
    for name in filter(None, path.split(".")):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def show_document(args):
    query = f"?{args.mask}" if args.mask else ""
    with request(args.station, "/get-info" + query, token=args.token) as answer:
        document = json_object(answer)
    print(json.dumps(value_at(document, args.path), indent=2))


def events(lines):
    """Server-sent events: `event:` and `data:` lines, an empty line ends one."""
    name, data = "message", []
    while True:
        raw = lines.readline(LARGEST_BYTES + 1)
        if raw == b"":
            return
        if len(raw) > LARGEST_BYTES:
            raise ValueError(f"an event of more than {LARGEST_BYTES} bytes")
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if data:
                yield name, json.loads("\n".join(data))
            name, data = "message", []
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].lstrip(" "))


def follow(args):
    """One line a second: state and verdict. Needs the plugin dashboard."""
    seen = 0
    with request(args.station, "/events?want=document", token=args.token) as answer:
        for name, data in events(answer):
            if name != "document":
                continue
            status, fitness, why = (
                printable(value_at(data, path))
                for path in ("gnss.state.status", "base.state.verdict.fitness", "base.state.verdict.why")
            )
            print(f"{status}  {fitness}: {why}", flush=True)
            seen += 1
            if seen == args.count:
                return
    raise OSError("the station ended the stream")


def parsed(assignment):
    """`udp-port=2200`: a JSON value, else a text. A text of digits is quoted: `wap-pswd='"12345678"'`."""
    name, equals, text = assignment.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"NAME=VALUE, not {assignment!r}")
    try:
        return name, json.loads(text)
    except ValueError:
        return name, text


def change(args):
    with request(args.station, "/change", dict(args.values), args.token) as answer:
        result = json_object(answer)
    print(printable(result.get("result")))
    for error in result.get("errors", []):
        print(f"  {printable(error['name'])}: {printable(error['message'])}")
    # Names that no plugin owns, e.g. a typing error; all of them if the change failed.
    print("leftover:", json.dumps(result.get("leftover")))
    return 0 if result.get("result") == "ok" else 1


def crc24q(data):
    """CRC-24Q (RTCM 10403.3, section 4.2)."""
    crc = 0
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1864CFB
    return crc


def read_frame(datagram):
    """One datagram is one frame: 0xD3, 6 reserved bits, 10 bits of length, payload, CRC. Message number and station ID, or None."""
    if len(datagram) < 6 or datagram[0] != 0xD3:
        return None
    length = (datagram[1] & 3) << 8 | datagram[2]
    if len(datagram) != length + 6 or crc24q(datagram[:-3]) != int.from_bytes(datagram[-3:], "big"):
        return None
    if length < 3:
        return None
    return datagram[3] << 4 | datagram[4] >> 4, (datagram[4] & 15) << 8 | datagram[5]


def take_rtcm(args):
    with request(args.station, "/get-info?0x04", token=args.token) as answer:
        document = json_object(answer)
    port = args.port or value_at(document, "udp.port")
    if not port:
        raise OSError("the station has no plugin udp-rtcm")
    host = urllib.parse.urlsplit(args.station).hostname
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    valid = invalid = 0
    with socket.socket(family, kind, protocol) as client:
        # A connected socket receives datagrams of the station only.
        client.connect(address)
        client.settimeout(TIMEOUT_S)
        asked = None
        while valid != args.frames:
            if asked is None or time.monotonic() - asked > RENEWAL_S:
                client.send(b"python-client")
                asked = time.monotonic()
            try:
                datagram = client.recv(2048)
            except socket.timeout:
                print("no RTCM: `follow` tells why", file=sys.stderr)
                asked = None
                continue
            frame = read_frame(datagram)
            if frame is None:
                invalid += 1
                continue
            valid += 1
            print(f"{frame[0]}  {len(datagram):4} bytes  station {frame[1]}", flush=True)
    print(f"{valid} frames, {invalid} invalid datagrams")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--station", default="http://127.0.0.1:8080", help="address (default: %(default)s)")
    parser.add_argument("--token", help="where the station has a login")
    commands = parser.add_subparsers(dest="command", required=True)

    document = commands.add_parser("document", help="prints the information document, or a part of it")
    document.add_argument("path", nargs="?", default="", help="e.g. gnss.state")
    document.add_argument("--mask", help="e.g. 0x02")
    document.set_defaults(run=show_document)

    following = commands.add_parser("follow", help="prints state and verdict each second")
    following.add_argument("--count", type=int, help="ends after so many lines")
    following.set_defaults(run=follow)

    changing = commands.add_parser("change", help="changes parameters and prints what is left over")
    changing.add_argument("values", nargs="+", type=parsed, metavar="NAME=VALUE")
    changing.set_defaults(run=change)

    rtcm = commands.add_parser("rtcm", help="takes RTCM over UDP and prints each valid frame")
    rtcm.add_argument("--frames", type=int, help="ends after so many valid frames")
    rtcm.add_argument("--port", type=int, help="left out: as the document says")
    rtcm.set_defaults(run=take_rtcm)

    args = parser.parse_args()
    try:
        return args.run(args) or 0
    except BrokenPipeError:
        # Whoever reads this ended first, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except urllib.error.HTTPError as error:
        print(f"{error.code}: {printable(error.read(1000).decode(errors='replace').strip())}", file=sys.stderr)
    except OSError as error:
        print(f"{args.station}: {error}", file=sys.stderr)
    except (ValueError, LookupError, TypeError, RecursionError, http.client.HTTPException) as error:
        print(f"{args.station}: not an answer of a station: {printable(error)}", file=sys.stderr)
    except KeyboardInterrupt:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""An adapter to copy: it puts a compaction written in Python behind protocol 1 (spec/protocol.md).

    turnfold verify -- python3 adapter.py

Replace what is marked so. The compaction below is the one that is written first and looks right; the report shows
what it gets wrong. It needs Python 3.8 or later and nothing else.
"""

import json
import sys

# Replace these two: what is tested, and what it can do. Declare only what it has; what is declared is tested.
IMPLEMENTATION = {"name": "naive-window", "version": "0.1.0", "language": "Python"}
CAPABILITIES = {"windows": ["events", "turns", "tokens"], "summarizer": "callback"}


class SummarizerFailed(Exception):
    """Raised by `summarize`. Replace it by the exception that your summarizers raise."""


# Replace: your exceptions and the class each of them is reported as, "invalid-window" and "invalid-view" among them.
ERROR_CLASSES = {SummarizerFailed: "summarizer"}  # any other exception is "internal"

# ---- Replace from here: your compaction ------------------------------------------------------------------------------


def compact(view, window, summarize):
    """One pass over a view; returns the new view, or None where it leaves the view as it is.

    view       list of events, each a dict; an event you keep goes into the new view whole
    window     {"events": n}, {"turns": n} or {"tokens": n}
    summarize  None, or a function to call as summarize(prior, events), where prior is the text of the prior summary or
               None; it returns {"text": …, "tokens": …}, or None if there is nothing to say, or raises SummarizerFailed
    """
    system = [event for event in view if event["role"] == "system"]
    rest = [event for event in view if event["role"] != "system"]
    unit, size = next(iter(window.items()))
    if unit == "events":
        kept = rest[-size:]
    elif unit == "turns":
        users = [at for at, event in enumerate(rest) if event["role"] == "user"]
        kept = rest[users[-size]:] if len(users) > size else rest
    else:
        kept, weight = [], 0
        for event in reversed(rest):
            weight += event["tokens"]
            if weight > size:
                break
            kept.insert(0, event)
    gone = rest[: len(rest) - len(kept)]
    if not gone:
        return None
    if summarize:
        said = summarize(None, gone)
        if said is None:
            return None
        halves = ("user", "What happened before?", 0), ("assistant", said["text"], said["tokens"])
        marks = {"synthetic": True, "strategy": IMPLEMENTATION["name"]}
        for role, text, tokens in halves:
            named = gone[-1]["id"] + "." + role
            system.append({"id": named, "role": role, "text": text, "tokens": tokens, "metadata": marks})
    return system + kept


# ---- To here. The rest is the adapter, and needs no change for a compaction without a session ------------------------

STDIN, STDOUT = sys.stdin.buffer, sys.stdout.buffer
sys.stdout = sys.stderr  # a stray print() is then no message
ENCODE = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def send(message):
    """One line, and flushed: stdout is a pipe, and a line that stays in a buffer is one that the suite waits for."""
    STDOUT.write(ENCODE(message).encode("ascii") + b"\n")
    STDOUT.flush()


def receive():
    line = STDIN.readline()
    try:
        return json.loads(line) if line else sys.exit(0)  # at the end of stdin there is no more to do
    except ValueError as error:
        sys.exit("expected a message of protocol 1, found {!r}: {}".format(line, error))


def answer_compact(request_id, asked):
    if "view" not in asked:
        return {"unsupported": {"why": "no session is kept"}}

    def summarize(prior, events):
        call = {"events": events} if prior is None else {"prior": prior, "events": events}
        send({"id": request_id, "summarize": call})
        said = receive()["summary"]
        if "fail" in said:
            raise SummarizerFailed(said["fail"])
        return None if "decline" in said else said

    try:
        view = compact(asked["view"], asked["window"], summarize if asked.get("summarizer") else None)
    except Exception as error:
        kind = ERROR_CLASSES.get(type(error), "internal")
        return {"error": {"class": kind, "message": "{}: {}".format(type(error).__name__, error)}}
    # If yours tells what it pinned, covered, preserved and wrote as summary, answer with these four instead of "view".
    return {"unchanged": {}} if view is None else {"outcome": {"view": view}}


def answer(request):
    if "compact" in request:
        return answer_compact(request["id"], request["compact"])
    if "hello" not in request or request["hello"]["protocol"]["min"] > 1:
        return {"unsupported": {"why": "this adapter knows `hello` and `compact` of protocol 1"}}
    return {"hello": {"protocol": 1, "implementation": IMPLEMENTATION, "capabilities": CAPABILITIES}}


if __name__ == "__main__":
    while True:
        received = receive()
        send({"id": received["id"], **answer(received)})

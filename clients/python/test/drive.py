"""Plays the table of cases (../../table.json) by the Python client, with threads or, with --async, with asyncio.

Reads from standard input where the server is and who may ask; writes one line of JSON for each step: what came of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from typing import Any, Iterator

import writ
from writ.functions import GovernedCall, governed


class Asyncio:
    """Lets the table's steps, which follow one another, be done by the client for asyncio."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def make(self, *arguments: Any, **settings: Any) -> Any:
        return _Waiting(self, writ.AsyncClient(*arguments, **settings))

    def result(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def each(self, generator: Any) -> Iterator[Any]:
        while True:
            try:
                yield self.result(generator.__anext__())
            except StopAsyncIteration:
                return


class _Waiting:
    def __init__(self, runner: Asyncio, client: writ.AsyncClient) -> None:
        self._runner = runner
        self._client = client

    def governed(self, name: str, function: Any, terms: dict[str, Any], amount: int) -> Any:
        call = governed(self._client, name=name, **terms)(function)
        return self._runner.result(call(amount))

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if name == "sign":
            return method
        if name == "events":
            return lambda *a, **k: self._runner.each(method(*a, **k))
        return lambda *a, **k: self._runner.result(method(*a, **k))


class Player:
    def __init__(self, place: dict[str, Any], case: int, make: Any) -> None:
        self.place = place
        self.case = case
        self.make = make
        self.made: dict[str, Any] = {}
        self.open: list[Any] = []
        self.thread: threading.Thread | None = None
        self.result: Any = None

    def client(self, step: dict[str, Any], who: str | None = None) -> Any:
        p = self.place
        name = who or step.get("who", "agent")
        if name in ("agent", "approver"):
            holder: Any = writ.Agent.load(p["tenant"], p[name]["subject"], p[name]["key"])
        elif name == "token":
            holder = writ.Token(p["tenant"], p["agent"]["subject"], p["token"])
        else:
            holder = writ.Token(p["tenant"], p["agent"]["subject"], "writ_" + "0" * 64)
        trust = json.load(open(p["trust"], encoding="utf-8"))
        pins = step.get("pins")
        keys = [] if pins == "none" else trust["keys"]
        required = {"guardian": ["Ed25519", "ML-DSA-65"]} if pins == "required-both" else {}
        via = step.get("via")
        url = p["url"]
        if via == "nobody":
            url = p["nobody"]
        elif via:
            url = f"{p['faults']}/{via}/{p['prefix']}-{self.case}-{len(self.open)}"
        client = self.make(
            url,
            holder,
            writ.Pinned(keys, p["origin"], required),
            settings=writ.Settings(
                retry_for=step.get("retry_for", 20.0),
                answer_within=step.get("answer_within", 120.0),
            ),
        )
        self.open.append(client)
        return client

    def run_name(self, step: dict[str, Any]) -> str:
        return f"{self.place['prefix']}-{step['run']}"

    def key(self, step: dict[str, Any]) -> str | None:
        return f"{self.place['prefix']}-{step['key']}" if "key" in step else None

    def effect(self, step: dict[str, Any]) -> writ.Effect:
        resources = step.get("resources")
        params = json.loads(json.dumps(step["params"]).replace("$prefix", self.place["prefix"]))
        return writ.Effect(
            step["tool"],
            params,
            step.get("operation"),
            inputs=[self.made[name] for name in step.get("inputs", [])],
            resources=writ.Resources(**resources) if resources else None,
        )

    def do(self, step: dict[str, Any]) -> Any:
        return getattr(self, "do_" + step["do"])(step)

    def do_call(self, step: dict[str, Any]) -> Any:
        if step.get("mandate"):
            return self.client(step).submit(self.do_request(step))
        return self.client(step).call(
            self.effect(step), run=self.run_name(step), key=self.key(step)
        )

    def do_request(self, step: dict[str, Any]) -> Any:
        client = self.client(step)
        terms = {"run": self.run_name(step), "key": self.key(step)}
        if not step.get("mandate"):
            return client.request(self.effect(step), **terms)
        prepared = client.prepare(self.effect(step), **terms)
        wallet = subprocess.run(
            [*self.place["wallet"], prepared.challenge],
            check=True,
            capture_output=True,
            text=True,
        )
        return client.sign(prepared, mandate=wallet.stdout.strip())

    def do_submit(self, step: dict[str, Any]) -> Any:
        return self.client(step).submit(self.made[step["of"]])

    def do_resend(self, step: dict[str, Any]) -> Any:
        kept = self.made[step["of"]].to_bytes()
        return self.client(step).submit(writ.Request.from_bytes(kept))

    def asker(self, step: dict[str, Any]) -> Any:
        origin = self.made[step["of"]].request.document.get("origin")
        return self.client(step, "token" if origin else "agent")

    def do_again(self, step: dict[str, Any]) -> Any:
        return self.asker(step).again(self.made[step["of"]])

    def do_wait(self, step: dict[str, Any]) -> Any:
        return self.asker(step).wait(self.made[step["of"]], step["timeout"])

    def decide(self, step: dict[str, Any], verb: str) -> Any:
        client = self.client(step, "approver")
        asked = self.made[step["of"]].request_id
        waiting = next(w for w in client.waiting() if w.request_id == asked)
        return {"verdict": getattr(client, verb)(waiting, "reviewer")}

    def do_approve(self, step: dict[str, Any]) -> Any:
        return self.decide(step, "approve")

    def do_reject(self, step: dict[str, Any]) -> Any:
        return self.decide(step, "reject")

    def aside(self, work: Any) -> None:
        def run() -> None:
            try:
                self.result = work()
            except writ.WritError as e:
                self.result = e

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def joined(self) -> Any:
        assert self.thread is not None
        self.thread.join()
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def do_begin(self, step: dict[str, Any]) -> Any:
        client = self.client(step)
        request = self.made[step["of"]]
        self.aside(lambda: client.submit(request))

    def do_cancel(self, step: dict[str, Any]) -> Any:
        client = self.client(step)
        until = time.monotonic() + 20
        while True:
            try:
                return client.cancel(self.made[step["of"]].id)
            except writ.Refused as e:  # it may not have begun
                if e.code != "GWY-041" or time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def do_end(self, step: dict[str, Any]) -> Any:
        return self.joined()

    def do_put(self, step: dict[str, Any]) -> Any:
        return self.client(step).put(step["text"].encode("utf-8"), step["file"], "text/csv")

    def do_blob(self, step: dict[str, Any]) -> Any:
        digest = step.get("digest") or self.made[step["of"]].digest
        return {"text": self.client(step).blob(digest).decode("utf-8")}

    def do_follow(self, step: dict[str, Any]) -> Any:
        client = self.client(step)
        self.aside(lambda: list(client.events(self.run_name(step))))

    def do_followed(self, step: dict[str, Any]) -> Any:
        events = self.joined()
        return {
            "first": events[0].kind,
            "last": events[-1].kind,
            "in_order": [e.seq for e in events] == list(range(len(events))),
        }

    def do_close(self, step: dict[str, Any]) -> Any:
        self.client(step).close_run(self.run_name(step))

    def do_bundle(self, step: dict[str, Any]) -> Any:
        return {"begins": self.client(step).bundle(self.run_name(step))[:2].decode("ascii")}

    def do_operations(self, step: dict[str, Any]) -> Any:
        found = next(o for o in self.client(step).operations() if o.tool == step["tool"])
        return {"name": found.name, "sandbox": found.sandbox}

    def do_govern(self, step: dict[str, Any]) -> Any:
        client = self.client(step)
        shown: dict[str, Any] = {"ran": False, "returned": None, "ended": None, "code": None}

        def refund(amount: int) -> str:
            shown["ran"] = True
            if step.get("raises"):
                raise LookupError("no such order")
            return f"refunded {amount}"

        def reported(call: GovernedCall) -> None:
            shown["ended"] = call.report.request.document["effect"]["params"]["ended"]

        terms: dict[str, Any] = {"run": self.run_name(step), "reported": reported}
        if "key" in step:
            terms["key"] = lambda amount: self.key(step)
        try:
            if isinstance(client, _Waiting):

                async def awaited(amount: int) -> str:
                    return refund(amount)

                shown["returned"] = client.governed("refund", awaited, terms, step["amount"])
            else:
                shown["returned"] = governed(client, **terms)(refund)(step["amount"])
        except LookupError:
            pass
        except writ.WritError as e:
            shown["code"] = e.code
        return shown

    def do_connect(self, step: dict[str, Any]) -> Any:
        p = self.place
        self.make(step["url"], writ.Token(p["tenant"], "x", p["token"]), writ.Pinned([], "x"))


def told(value: Any) -> Any:
    if isinstance(value, writ.Outcome):
        shown: dict[str, Any] = {
            "verdict": value.verdict,
            "status": value.status,
            "code": value.code,
            "repeated": value.repeated,
            "receipt": value.receipt_id,
            "helped": bool(value.help),
        }
        if value.output is not None:
            shown["output_bytes"] = len(value.output)
            if len(value.output) < 10000:
                shown["output"] = value.json()
        return shown
    if isinstance(value, writ.Input):
        return {"size": value.size, "digest": value.digest}
    return value if isinstance(value, dict) else {}


def main() -> None:
    place = json.load(sys.stdin)
    make = Asyncio().make if "--async" in sys.argv else writ.Client
    with open(place["table"], encoding="utf-8") as file:
        table = json.load(file)
    for index, case in enumerate(table["cases"]):
        player = Player(place, index, make)
        for step in case["steps"]:
            line: dict[str, Any] = {"case": case["name"]}
            try:
                value = player.do(step)
                if "as" in step:
                    player.made[step["as"]] = value
                line["told"] = told(value)
            except writ.WritError as e:
                line["fails"] = e.code
                line["message"] = str(e)
            except Exception as e:  # a fault of the client: no step expects it
                line["fails"] = repr(e)
            print(json.dumps(line), flush=True)
        for client in player.open:
            with contextlib.suppress(Exception):
                client.close()


main()

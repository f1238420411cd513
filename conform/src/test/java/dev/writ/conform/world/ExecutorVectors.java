package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.activate;
import static dev.writ.conform.world.Plot.again;
import static dev.writ.conform.world.Plot.approve;
import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.Plot.clock;
import static dev.writ.conform.world.Plot.close;
import static dev.writ.conform.world.Plot.edit;
import static dev.writ.conform.world.Plot.execute;
import static dev.writ.conform.world.Plot.gives;
import static dev.writ.conform.world.Plot.json;
import static dev.writ.conform.world.Plot.prohibit;
import static dev.writ.conform.world.Plot.ref;
import static dev.writ.conform.world.Plot.restart;
import static dev.writ.conform.world.Plot.revoke;
import static dev.writ.conform.world.Plot.step;
import static dev.writ.conform.world.Plot.tool;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes golden-vectors/executor: what the eight stages do, and each refusal that they give. */
final class ExecutorVectors {
  private static final String JSON = "application/json";
  private static final String SERVED = "ALLOW succeeded";
  private static final String REPEATED = "ALLOW succeeded repeated";
  private static final String DONE = "done";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    ExecutorVectors vectors = new ExecutorVectors();
    vectors.straight();
    vectors.idempotency();
    vectors.gate();
    vectors.snapshotAndPrepare();
    vectors.dispatch();
    vectors.output();
    vectors.crashes();
    vectors.runs();
    vectors.approvals();
    vectors.installation();
    vectors.made.addAll(WorkspaceVectors.all());
    vectors.made.addAll(GovernanceVectors.all());
    return vectors.made;
  }

  private void add(String name, String about, List<String> wanted, ObjectBuilder... steps) {
    made.add(
        new Made(
            "executor/" + name,
            about,
            Optional.empty(),
            "executor.run",
            Plot.scenario(steps),
            wanted));
  }

  private void straight() {
    add("straight-pure", "a pure tool is served", List.of(SERVED), ask("calc").submit());
    add(
        "straight-reproducible",
        "a reproducible tool is served; it counts as impure",
        List.of(SERVED),
        ask("sim").submit());
    add("straight-recorded", "a recorded tool is served", List.of(SERVED), ask("mail").submit());
    add(
        "two-steps",
        "decided first, executed by the holder's order",
        List.of("ALLOW", "succeeded"),
        ask("mail").decide(),
        execute(1, 1, "alice"));
    add(
        "executed-for-another",
        "a role that policy names may execute for the holder",
        List.of("ALLOW", "succeeded"),
        ask("mail").decide(),
        execute(1, 1, "deputy"));
    add(
        "lamport-chain",
        "each receipt of a run is one later than the one before",
        List.of(SERVED, SERVED, SERVED),
        ask("alice", "calc", "n-1").submit(),
        ask("alice", "calc", "n-2").params("{\"n\":2}").submit(),
        ask("alice", "mail", "n-3").submit());
    add(
        "lamport-consumes",
        "one later than the greatest receipt that it consumes, of another run",
        List.of(SERVED, SERVED, SERVED),
        ask("alice", "calc", "n-1").submit(),
        ask("alice", "calc", "n-2").params("{\"n\":2}").submit(),
        ask("alice", "calc", "n-3")
            .with("run", "run-2")
            .with("consumes", JsonValue.of(List.of(ref("receipt", 2))))
            .submit());
    add(
        "consumes-unknown",
        "a receipt that nobody knows cannot be consumed",
        List.of("EXE-307"),
        ask("calc")
            .with("consumes", JsonValue.of(List.of(JsonValue.of(Digest.sha256().toString()))))
            .submit());
    add(
        "dropped-output",
        "where the request wants its output dropped the receipt says so, and the repeat too",
        List.of(SERVED, REPEATED),
        ask("mail").with("retention", "drop-output").submit(),
        again(1));
  }

  private void idempotency() {
    add(
        "repeat",
        "the same request again gets the stored outcome; the tool does not run",
        List.of(SERVED, REPEATED),
        ask("mail").submit(),
        again(1));
    add(
        "repeat-after-restart",
        "the stored outcome survives a restart",
        List.of(SERVED, DONE, REPEATED),
        ask("mail").submit(),
        restart(),
        again(1));
    add(
        "repeat-of-an-expired-intent",
        "what was served is served again, also when its intent has expired since",
        List.of("ALLOW", "succeeded", DONE, "succeeded repeated"),
        ask("mail").decide(),
        execute(1, 1, "alice"),
        clock(301),
        execute(1, 1, "alice"));
    add(
        "key-same-effect",
        "another request under the same idempotency key gets the first's outcome",
        List.of(SERVED, REPEATED),
        ask("alice", "mail", "n-1").with("idempotency_key", "k").submit(),
        ask("alice", "mail", "n-2").with("idempotency_key", "k").submit());
    add(
        "key-other-effect",
        "an idempotency key is of one effect",
        List.of(SERVED, "EXE-110"),
        ask("alice", "mail", "n-1").with("idempotency_key", "k").submit(),
        ask("alice", "mail", "n-2").with("idempotency_key", "k").params("{\"n\":2}").submit());
    add(
        "key-of-another-subject",
        "idempotency keys of two subjects are two",
        List.of(SERVED, SERVED),
        ask("alice", "mail", "n-1").with("idempotency_key", "k").submit(),
        ask("bob", "mail", "n-2").with("idempotency_key", "k").with("run", "run-2").submit());
    add(
        "nonce-reused",
        "a nonce is of one request",
        List.of(SERVED, "GRD-007"),
        ask("alice", "mail", "n-1").submit(),
        ask("alice", "mail", "n-1").params("{\"n\":2}").submit());
    add(
        "lapsed",
        "an intent that lapsed undispatched: the same request is judged anew",
        List.of("ALLOW", DONE, "EXE-107", "GRD-012"),
        ask("mail").decide(),
        clock(301),
        execute(1, 1, "alice"),
        ask("alice", "mail", "n-2").submit());
    add(
        "lapsed-judged-again",
        "its age counts from when it was received, so it is judged anew while it lapsed",
        List.of("ALLOW", DONE, SERVED),
        ask("mail").decide(),
        clock(301),
        again(1));
    add(
        "superseded",
        "the intent before the one that is live is not served",
        List.of("ALLOW", DONE, "ALLOW", "EXE-111"),
        ask("mail").decide(),
        clock(301),
        step("decide").put("again", 1),
        execute(1, 1, "alice"));
    add(
        "superseded-by-snapshot",
        "after another policy the same request is judged anew, and only the new intent counts",
        List.of("ALLOW", DONE, "ALLOW", "EXE-111", "succeeded"),
        ask("mail").decide(),
        activate(Plot.next("limit: 100,", "limit: 99,"), "owner"),
        step("decide").put("again", 1),
        execute(1, 1, "alice"),
        execute(3, 3, "alice"));
  }

  private void gate() {
    add(
        "gate-decision-changed",
        "a decision that was changed under its signature",
        List.of("ALLOW", "EXE-101"),
        ask("mail").decide(),
        execute(1, 1, "alice").put("edit_decision", edit("run", JsonValue.of("run-2"))));
    add(
        "gate-intent-changed",
        "an intent that was changed under its signature",
        List.of("ALLOW", "EXE-103"),
        ask("mail").decide(),
        execute(1, 1, "alice")
            .put("edit_intent", edit("expires_at", JsonValue.of("2026-11-21T12:04:00.000Z"))));
    add(
        "gate-not-issued",
        "the Guardian's key alone is not enough: this ledger must have issued the intent",
        List.of("ALLOW", "EXE-111"),
        ask("mail").decide(),
        execute(1, 1, "alice")
            .put(
                "edit_intent",
                edit("expires_at", JsonValue.of("2026-11-21T12:04:00.000Z"), "guardian")));
    add(
        "gate-audience",
        "an intent for another log",
        List.of("ALLOW", "EXE-105"),
        ask("mail").decide(),
        execute(1, 1, "alice")
            .put(
                "edit_intent",
                edit(
                    "audience",
                    json("{\"incarnation\":0,\"origin\":\"writ.example/other\"}"),
                    "guardian")));
    add(
        "gate-holder",
        "an order of somebody else",
        List.of("ALLOW", "EXE-106"),
        ask("mail").decide(),
        execute(1, 1, "bob"));
    add(
        "gate-expired",
        "an intent lives five minutes at most",
        List.of("ALLOW", DONE, "EXE-107"),
        ask("mail").decide(),
        clock(300),
        execute(1, 1, "alice"));
    add(
        "gate-last-second",
        "a second before its end it is served",
        List.of("ALLOW", DONE, "succeeded"),
        ask("mail").decide(),
        clock(299),
        execute(1, 1, "alice"));
    add(
        "gate-order-for-another",
        "an order that names another intent",
        List.of("ALLOW", "EXE-104"),
        ask("mail").decide(),
        execute(1, 1, "alice")
            .put("set", JsonValue.object().put("intent", Digest.sha256()).build()));
    add(
        "gate-order-early",
        "an order that was signed before the intent was",
        List.of("ALLOW", "EXE-112"),
        ask("mail").decide(),
        execute(1, 1, "alice")
            .put(
                "set", JsonValue.object().put("ordered_at", Plot.START.minusMillis(2001)).build()));
    add(
        "gate-order-ahead",
        "an order from the future",
        List.of("ALLOW", "EXE-112"),
        ask("mail").decide(),
        execute(1, 1, "alice")
            .put("set", JsonValue.object().put("ordered_at", Plot.START.plusMillis(2001)).build()));
  }

  private void snapshotAndPrepare() {
    add(
        "snapshot-policy",
        "another policy came into force between decision and execution",
        List.of("ALLOW", DONE, "EXE-201"),
        ask("mail").decide(),
        activate(Plot.next("limit: 100,", "limit: 99,"), "owner"),
        execute(1, 1, "alice"));
    add(
        "snapshot-tool",
        "the tool was replaced between decision and execution",
        List.of("ALLOW", DONE, "EXE-201"),
        ask("mail").decide(),
        step("unregister").put("name", "mail").put("version", "1.0.0"),
        execute(1, 1, "alice"));
    add(
        "prepare-prohibited",
        "the tool was prohibited between decision and execution: looked at live",
        List.of("ALLOW", DONE, "EXE-303"),
        ask("mail").decide(),
        prohibit("mail"),
        execute(1, 1, "alice"));
    add(
        "prepare-driver-missing",
        "there is no driver for the tool",
        List.of(DONE, "EXE-304"),
        step("restart").put("driver", false),
        ask("calc").submit());
    add(
        "prepare-sandbox-missing",
        "tool and role allow a sandbox profile that is not there",
        List.of("EXE-305"),
        ask("odd").effect("sandbox", "missing-box").submit());
    add(
        "prepare-input-unknown",
        "an input that the tenant's store does not have",
        List.of("EXE-306"),
        ask("calc").effect("inputs", input("what")).submit());
    add(
        "prepare-input-known",
        "an input that it has",
        List.of(DONE, SERVED),
        step("put")
            .put("tenant", "acme")
            .put("content_b64", StrictBase64.encode(bytes("what")))
            .put("media_type", "text/plain"),
        ask("calc").effect("inputs", input("what")).submit());
    add(
        "prepare-package-corrupt",
        "a file of the package is not what the manifest names",
        List.of(DONE, "EXE-308"),
        step("corrupt").put("name", "calc").put("version", "1.0.0"),
        ask("calc").submit());
    add(
        "prepare-refused",
        "the driver cannot make the tool ready",
        List.of(DONE, "EXE-308", DONE, SERVED),
        step("prepare").put("refuses", true),
        ask("calc").submit(),
        step("prepare").put("refuses", false),
        again(2));
  }

  static JsonValue input(String content) {
    return JsonValue.of(
        List.of(
            JsonValue.object()
                .put("name", "in")
                .put("digest", Digest.sha256(bytes(content)))
                .put("size", content.length())
                .put("media_type", "text/plain")
                .build()));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void dispatch() {
    for (String end : List.of("failed", "timed_out", "killed")) {
      add(
          "dispatch-" + end.replace('_', '-'),
          "a tool that ends so has a receipt, and its raw output is kept",
          List.of(DONE, "ALLOW " + end, "ALLOW " + end + " repeated"),
          gives("mail", end, "half an answer", "text/plain"),
          ask("mail").submit(),
          again(2));
    }
    add(
        "dispatch-pure-failed",
        "a pure tool that fails has a receipt as well",
        List.of(DONE, "ALLOW failed"),
        gives("calc", "failed", "half an answer", "text/plain"),
        ask("calc").submit());
    for (String name : List.of("calc", "mail")) {
      add(
          "dispatch-driver-breaks-" + name,
          "a driver that throws",
          List.of(DONE, "ALLOW failed EXE-401"),
          tool(name, "{\"does\":\"throw\"}"),
          ask(name).submit());
    }
  }

  private void output() {
    output("drift-missing", "a required member is missing", "{}", "ERR_CONNECTOR_CONTRACT_DRIFT");
    output("drift-type", "a member has another type", "{\"ok\":1}", "ERR_CONNECTOR_CONTRACT_DRIFT");
    output("no-canonical-form-cut", "the output ends inside a value", "{\"ok\":tru", "EXE-601");
    output("no-canonical-form-twice", "a key twice", "{\"ok\":true,\"ok\":true}", "EXE-601");
    output(
        "no-canonical-form-surrogate", "half a pair", "{\"ok\":true,\"x\":\"\\ud800\"}", "EXE-601");
    output(
        "no-canonical-form-number", "a number too large", "{\"ok\":true,\"x\":1e400}", "EXE-601");
    add(
        "canonical-output",
        "JSON output is kept in its canonical form",
        List.of(DONE, SERVED),
        gives("mail", "succeeded", " { \"b\" : 1.0 , \"ok\" : true } ", JSON),
        ask("mail").submit());
    add(
        "drift-media-type",
        "the manifest says JSON, the tool text",
        List.of(DONE, "ALLOW failed ERR_CONNECTOR_CONTRACT_DRIFT"),
        gives("mail", "succeeded", "{\"ok\":true}", "text/plain"),
        ask("mail").submit());
    add(
        "text-output",
        "text output is kept as it is",
        List.of(DONE, SERVED),
        gives("mail", "succeeded", " not {json\n", "text/plain"),
        ask("mail").effect("operation", "text").submit());
  }

  private void output(String name, String about, String output, String code) {
    add(
        "output-" + name,
        about,
        List.of(DONE, "ALLOW failed " + code),
        gives("mail", "succeeded", output, JSON),
        ask("mail").submit());
  }

  private void crashes() {
    for (String name : List.of("mail", "sim")) {
      add(
          "crash-" + name,
          "a crash while an impure tool runs: in doubt, and never run again",
          List.of(DONE, "crashed", "ALLOW in_doubt repeated"),
          tool(name, "{\"does\":\"crash\"}"),
          ask(name).submit(),
          again(2));
    }
    add(
        "crash-pure",
        "a crash while a pure tool runs leaves nothing; the request is served afterwards",
        List.of(DONE, "crashed", DONE, SERVED),
        tool("calc", "{\"does\":\"crash\"}"),
        ask("calc").submit(),
        gives("calc", "succeeded", "{\"ok\":true}", JSON),
        again(2));
    add(
        "crash-resolved",
        "an operator's statement stands beside the receipt, which stays as it is",
        List.of(
            DONE, "crashed", "ALLOW in_doubt repeated", DONE, "ALLOW in_doubt repeated resolved"),
        tool("mail", "{\"does\":\"crash\"}"),
        ask("mail").submit(),
        again(2),
        resolve(3, "operator"),
        again(2));
    add(
        "crash-resolved-twice",
        "it is stated once",
        List.of(DONE, "crashed", "ALLOW in_doubt repeated", DONE, "EXE-910"),
        tool("mail", "{\"does\":\"crash\"}"),
        ask("mail").submit(),
        again(2),
        resolve(3, "operator"),
        resolve(3, "operator"));
    add(
        "resolve-not-in-doubt",
        "what is not in doubt is not resolved",
        List.of(SERVED, "EXE-909"),
        ask("mail").submit(),
        resolve(1, "operator"));
    add(
        "resolve-by-an-agent",
        "only an operator resolves",
        List.of(DONE, "crashed", "ALLOW in_doubt repeated", "CAN-053"),
        tool("mail", "{\"does\":\"crash\"}"),
        ask("mail").submit(),
        again(2),
        resolve(3, "alice"));
  }

  private static ObjectBuilder resolve(long receipt, String signer) {
    return step("resolve").put("receipt", receipt).put("found", "happened").put("signer", signer);
  }

  private void runs() {
    add(
        "close",
        "nothing follows in a closed run, but what was served is served again",
        List.of(SERVED, DONE, "EXE-901", REPEATED),
        ask("mail").submit(),
        close("run-1", "alice"),
        ask("alice", "mail", "n-2").submit(),
        again(1));
    add(
        "close-twice",
        "it is closed once",
        List.of(SERVED, DONE, "EXE-901"),
        ask("mail").submit(),
        close("run-1", "alice"),
        close("run-1", "alice"));
    add(
        "close-not-the-opener",
        "only the opener closes",
        List.of(SERVED, "EXE-902"),
        ask("mail").submit(),
        close("run-1", "bob"));
    add(
        "close-in-doubt",
        "not while something is in doubt",
        List.of(DONE, "crashed", "EXE-903"),
        tool("mail", "{\"does\":\"crash\"}"),
        ask("mail").submit(),
        close("run-1", "alice"));
    add(
        "close-pending",
        "not while something waits for approval",
        List.of("ESCALATE GRD-104", "EXE-903"),
        ask("pay").submit(),
        close("run-1", "alice"));
    add("close-unknown", "there is no such run", List.of("EXE-905"), close("run-9", "alice"));
    add(
        "run-of-another",
        "only the opener appends",
        List.of(SERVED, "EXE-902"),
        ask("mail").submit(),
        ask("bob", "mail", "n-2").submit());
  }

  private void approvals() {
    add(
        "approved",
        "an approval has the same request judged again; then it is executed",
        List.of("ESCALATE GRD-104", "ALLOW", SERVED),
        ask("pay").submit(),
        approve(1, "rita", "approve"),
        again(1));
    add(
        "rejected",
        "a rejection is final",
        List.of("ESCALATE GRD-104", "DENY GRD-105", "DENY GRD-105"),
        ask("pay").submit(),
        approve(1, "rita", "reject"),
        again(1));
    add(
        "approve-twice",
        "what waits no more is not approved",
        List.of("ESCALATE GRD-104", "ALLOW", "EXE-908"),
        ask("pay").submit(),
        approve(1, "rita", "approve"),
        approve(1, "roy", "approve"));
    add(
        "approve-what-was-served",
        "what never waited is not approved",
        List.of(SERVED, "EXE-908"),
        ask("mail").submit(),
        approve(1, "rita", "approve"));
  }

  private void installation() {
    add(
        "policy-order",
        "a policy must follow the one in force",
        List.of("EXE-906"),
        activate(Plot.policy(2, Optional.of(Digest.sha256()), "x", "x"), "owner"));
    add(
        "own-key-revoked",
        "a kernel whose Guardian's key is revoked decides nothing",
        List.of(DONE, "EXE-912"),
        revoke("guardian"),
        ask("mail").submit());
    add(
        "agent-key-revoked",
        "a revoked agent asks nothing",
        List.of(DONE, "CAN-055"),
        revoke("alice"),
        ask("mail").submit());
    add(
        "fetch",
        "a receipt, and an id that nobody knows",
        List.of(SERVED, "succeeded repeated", "EXE-905"),
        ask("mail").submit(),
        step("fetch").put("tenant", "acme").put("receipt", ref("receipt", 1)),
        step("fetch").put("tenant", "acme").put("receipt", Digest.sha256()));
  }
}

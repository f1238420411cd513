package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.activate;
import static dev.writ.conform.world.Plot.again;
import static dev.writ.conform.world.Plot.approve;
import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.Plot.clock;
import static dev.writ.conform.world.Plot.copies;
import static dev.writ.conform.world.Plot.edit;
import static dev.writ.conform.world.Plot.execute;
import static dev.writ.conform.world.Plot.json;
import static dev.writ.conform.world.Plot.race;
import static dev.writ.conform.world.Plot.ref;
import static dev.writ.conform.world.Plot.step;
import static dev.writ.conform.world.Plot.tool;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.guardian.document.Determinism;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes the attacks of golden-vectors/adversarial that need a whole installation. */
final class AdversarialVectors {
  private static final String SERVED = "ALLOW succeeded";
  private static final String DONE = "done";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    AdversarialVectors vectors = new AdversarialVectors();
    vectors.policyBypass();
    vectors.forgedManifest();
    vectors.grafts();
    vectors.races();
    vectors.tenants();
    vectors.clocks();
    vectors.envelopeEscape();
    vectors.keys();
    vectors.downgrade();
    vectors.crashes();
    return vectors.made;
  }

  private void add(
      String name, long promise, String about, List<String> wanted, ObjectBuilder... steps) {
    made.add(
        new Made(
            "adversarial/" + name,
            about,
            Optional.of(promise),
            "executor.run",
            Plot.scenario(steps),
            wanted));
  }

  private static ObjectBuilder denied() {
    return ask("mail").params("{\"forbidden\":true}").decide();
  }

  private void policyBypass() {
    add(
        "policy-bypass-denied",
        1,
        "what policy denies has no intent and does not run, however often it is asked",
        List.of("DENY GRD-102", "DENY GRD-102"),
        ask("mail").params("{\"forbidden\":true}").submit(),
        again(1));
    add(
        "policy-bypass-denial-turned",
        1,
        "a DENY that was made an ALLOW under its old signature, with the intent of another request",
        List.of("DENY GRD-102", "ALLOW", "EXE-101"),
        denied(),
        ask("alice", "mail", "n-2").decide(),
        execute(1, 2, "alice").put("edit_decision", edit("verdict", JsonValue.of("ALLOW"))));
    for (String signer : List.of("alice", "executor", "operator", "owner", "stranger")) {
      add(
          "policy-bypass-signed-by-" + signer,
          1,
          "a decision that somebody signed who is not the Guardian",
          List.of("ALLOW", "EXE-101"),
          ask("mail").decide(),
          execute(1, 1, "alice")
              .put("edit_decision", edit("supersedes", ref("decision", 1), signer)));
      add(
          "policy-bypass-intent-signed-by-" + signer,
          1,
          "an intent that somebody signed who is not the Guardian",
          List.of("ALLOW", "EXE-103"),
          ask("mail").decide(),
          execute(1, 1, "alice")
              .put(
                  "edit_intent",
                  edit("expires_at", JsonValue.of("2026-11-21T12:04:00.000Z"), signer)));
    }
    add(
        "policy-bypass-policy-of-an-agent",
        9,
        "an agent's policy is none",
        List.of("CAN-053", "DENY GRD-102"),
        activate(Plot.next("!has(params.forbidden)", "true"), "alice"),
        ask("mail").params("{\"forbidden\":true}").submit());
    add(
        "policy-bypass-self-approval",
        1,
        "nobody approves his own request, whatever role policy gives him",
        List.of("ESCALATE GRD-104", "CAN-053", "ESCALATE GRD-104"),
        ask("pay").submit(),
        approve(1, "alice", "approve"),
        again(1));
    add(
        "policy-bypass-approval-for-another-effect",
        1,
        "an approval that names the effect of another request",
        List.of("ESCALATE GRD-104", "GRD-610", "ESCALATE GRD-104"),
        ask("pay").submit(),
        approve(1, "rita", "approve")
            .put("set", JsonValue.object().put("effect", Digest.sha256()).build()),
        again(1));
    add(
        "policy-bypass-tool-not-approved",
        9,
        "a version of a tool that is registered and that policy does not name",
        List.of(DONE, "DENY GRD-401"),
        register("2.0.0", new byte[] {1}),
        ask("calc").effect("version", "2.0.0").submit());
    add(
        "policy-bypass-tool-unknown",
        9,
        "a tool that nobody registered",
        List.of("DENY GRD-101"),
        ask("unheard").submit());
  }

  private static ObjectBuilder register(String version, byte[] code) {
    return step("register")
        .put(
            "tool",
            Plot.tool(
                Plot.manifest("calc", version, Determinism.PURE, List.of("box"), code), code));
  }

  private void forgedManifest() {
    add(
        "forged-manifest",
        1,
        "a package of the same name and version with other content: policy approved another digest",
        List.of(DONE, "DENY GRD-401"),
        register("1.0.0", new byte[] {1}),
        ask("calc").submit());
    add(
        "forged-manifest-after-the-decision",
        1,
        "the package was exchanged between decision and execution",
        List.of("ALLOW", DONE, "EXE-201"),
        ask("calc").decide(),
        register("1.0.0", new byte[] {1}),
        execute(1, 1, "alice"));
    add(
        "forged-manifest-files-alone",
        1,
        "the manifest is the approved one, a file behind it is not",
        List.of(DONE, "EXE-308"),
        step("corrupt").put("name", "calc").put("version", "1.0.0"),
        ask("calc").submit());
  }

  private void grafts() {
    add(
        "graft-intent-of-another-request",
        1,
        "a decision with the intent of another request",
        List.of("ALLOW", "ALLOW", "EXE-104"),
        ask("alice", "mail", "n-1").decide(),
        ask("alice", "mail", "n-2").params("{\"n\":2}").decide(),
        execute(1, 2, "alice"));
    add(
        "graft-intent-of-another-run",
        1,
        "a decision of one run with the intent of another",
        List.of("ALLOW", "ALLOW", "EXE-104"),
        ask("alice", "mail", "n-1").decide(),
        ask("alice", "mail", "n-2").with("run", "run-2").decide(),
        execute(2, 1, "alice"));
    for (String member : List.of("run", "tenant", "subject")) {
      add(
          "graft-" + member,
          1,
          "a Guardian's key that signs the intent over into another " + member,
          List.of("ALLOW", member.equals("tenant") ? "EXE-104" : "EXE-104"),
          ask("mail").decide(),
          execute(1, 1, "alice")
              .put("edit_intent", edit(member, JsonValue.of("elsewhere"), "guardian")));
    }
    add(
        "graft-effect",
        1,
        "a Guardian's key that signs the intent over to another effect",
        List.of("ALLOW", "ALLOW", "EXE-104"),
        ask("alice", "mail", "n-1").decide(),
        ask("alice", "mail", "n-2").params("{\"n\":2}").decide(),
        execute(1, 1, "alice")
            .put(
                "edit_intent",
                edit("effect", JsonValue.of(Digest.sha256().toString()), "guardian")));
  }

  private void races() {
    JsonValue one = ask("mail").racing();
    add(
        "race-one-request",
        2,
        "one request eight times at once: it runs once and all get one receipt",
        List.of("8 succeeded"),
        race(copies(one, 8)));
    add(
        "race-one-key",
        2,
        "eight requests under one idempotency key at once: one runs and all get its receipt",
        List.of("8 succeeded"),
        race(racing(8, "mail", "k")));
    List<JsonValue> sameNonce = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      sameNonce.add(ask("alice", "mail", "n").params("{\"n\":" + i + "}").racing());
    }
    add(
        "race-one-nonce",
        2,
        "four requests with one nonce at once: one is admitted",
        List.of("3 GRD-007, 1 succeeded"),
        race(sameNonce));
    add(
        "race-budget",
        1,
        "eight requests at once where the budget is for three: three run",
        List.of("5 DENY GRD-201, 3 succeeded"),
        race(racing(8, "sim", "")));
    add(
        "race-budget-after-restart",
        1,
        "what was charged is charged after a restart",
        List.of("5 DENY GRD-201, 3 succeeded", DONE, "DENY GRD-201"),
        race(racing(8, "sim", "")),
        Plot.restart(),
        ask("alice", "sim", "n-9").submit());
    add(
        "race-many-runs",
        8,
        "eight requests of eight runs at once: each is served once",
        List.of("8 succeeded"),
        race(manyRuns()));
  }

  private static List<JsonValue> racing(int count, String tool, String key) {
    List<JsonValue> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      var ask = ask("alice", tool, "n-" + i);
      all.add((key.isEmpty() ? ask : ask.with("idempotency_key", key)).racing());
    }
    return all;
  }

  private static List<JsonValue> manyRuns() {
    List<JsonValue> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(ask("alice", "mail", "n-" + i).with("run", "run-" + i).racing());
    }
    return all;
  }

  private void tenants() {
    add(
        "tenant-receipt",
        9,
        "a receipt of another tenant answers as one that nobody knows",
        List.of(SERVED, "EXE-905"),
        ask("mail").submit(),
        step("fetch").put("tenant", "other").put("receipt", ref("receipt", 1)));
    add(
        "tenant-consumes",
        9,
        "a receipt of another tenant cannot be consumed",
        List.of(SERVED, "EXE-307"),
        ask("mail").submit(),
        ask("eve", "calc", "n-2")
            .with("consumes", JsonValue.of(List.of(ref("receipt", 1))))
            .submit());
    add(
        "tenant-blob",
        9,
        "content of another tenant's store cannot be read by its digest",
        List.of(DONE, "EXE-306"),
        step("put")
            .put("tenant", "acme")
            .put("content_b64", StrictBase64.encode(ExecutorVectors.bytes("secret")))
            .put("media_type", "text/plain"),
        ask("eve", "calc", "n-2").effect("inputs", ExecutorVectors.input("secret")).submit());
    add(
        "tenant-output",
        9,
        "the output of another tenant's effect cannot be read by its digest",
        List.of(DONE, SERVED, "EXE-306"),
        Plot.gives("mail", "succeeded", "secret", "text/plain"),
        ask("mail").effect("operation", "text").submit(),
        ask("eve", "calc", "n-2").effect("inputs", ExecutorVectors.input("secret")).submit());
    add(
        "subject-consumes",
        9,
        "a receipt of another subject of the tenant cannot be consumed",
        List.of(SERVED, "EXE-307"),
        ask("mail").submit(),
        ask("bob", "calc", "n-2")
            .with("run", "run-2")
            .with("consumes", JsonValue.of(List.of(ref("receipt", 1))))
            .submit());
    add(
        "subject-blob",
        9,
        "what a subject put cannot be named by another one of its tenant",
        List.of(DONE, "EXE-306", SERVED),
        step("put")
            .put("tenant", "acme")
            .put("subject", "alice")
            .put("content_b64", StrictBase64.encode(ExecutorVectors.bytes("secret")))
            .put("media_type", "text/plain"),
        ask("bob", "calc", "n-2")
            .with("run", "run-2")
            .effect("inputs", ExecutorVectors.input("secret"))
            .submit(),
        ask("alice", "mail", "n-3").effect("inputs", ExecutorVectors.input("secret")).submit());
    add(
        "subject-output",
        9,
        "the output of another subject's effect cannot be named by its digest",
        List.of(DONE, SERVED, "EXE-306"),
        Plot.gives("mail", "succeeded", "secret", "text/plain"),
        ask("mail").effect("operation", "text").submit(),
        ask("bob", "calc", "n-2")
            .with("run", "run-2")
            .effect("inputs", ExecutorVectors.input("secret"))
            .submit());
    add(
        "tenant-intent",
        1,
        "an agent of another tenant cannot execute an intent",
        List.of("ALLOW", "EXE-106"),
        ask("mail").decide(),
        execute(1, 1, "eve"));
    add(
        "tenant-request",
        1,
        "an agent cannot ask in another tenant",
        List.of("GRD-003"),
        ask("eve", "mail", "n-1").with("tenant", "acme").submit());
    add(
        "tenant-same-run-name",
        9,
        "two tenants' runs of one name are two",
        List.of(SERVED, SERVED),
        ask("mail").submit(),
        ask("eve", "mail", "n-2").submit());
    add(
        "tenant-idempotency-key",
        9,
        "idempotency keys of two tenants are two",
        List.of(SERVED, SERVED),
        ask("mail").with("idempotency_key", "k").submit(),
        ask("eve", "mail", "n-2").with("idempotency_key", "k").params("{\"n\":2}").submit());
  }

  private void clocks() {
    add(
        "clock-rollback",
        8,
        "a clock that goes back more than two seconds stops everything",
        List.of(SERVED, DONE, "EXE-904"),
        ask("mail").submit(),
        clock(-3),
        ask("alice", "mail", "n-2").at(-3).submit());
    add(
        "clock-rollback-small",
        8,
        "two seconds are tolerated; time stands still meanwhile",
        List.of(SERVED, DONE, SERVED),
        ask("mail").submit(),
        clock(-2),
        ask("alice", "mail", "n-2").submit());
    add(
        "clock-rollback-to-revive-an-intent",
        1,
        "an expired intent does not come back to life when the clock is set back",
        List.of("ALLOW", DONE, SERVED, DONE, "EXE-904"),
        ask("mail").decide(),
        clock(301),
        ask("alice", "calc", "n-2").at(301).submit(),
        clock(-299),
        execute(1, 1, "alice"));
    add(
        "clock-rollback-over-a-restart",
        8,
        "the mark that time has reached survives a restart",
        List.of(SERVED, DONE, "EXE-904"),
        ask("mail").submit(),
        clock(-3),
        Plot.restart());
  }

  private void envelopeEscape() {
    String[][] escapes = {
      {"path-parent", "data/../../etc/passwd"},
      {"path-absolute", "/etc/passwd"},
      {"path-sibling", "database/x"},
      {"path-backslash", "data\\..\\..\\x"},
      {"path-nul", "data/x\0"},
      {"path-dot", "data/./x"},
      {"path-empty-part", "data//x"},
    };
    for (String[] escape : escapes) {
      add(
          "envelope-escape-" + escape[0],
          10,
          "a path that leads out of what the role names",
          List.of("DENY GRD-408"),
          ask("file").effect("params", JsonValue.object().put("path", escape[1]).build()).submit());
    }
    add(
        "envelope-escape-none",
        10,
        "a path inside, so that the others are not refused for something else",
        List.of(SERVED),
        ask("file").params("{\"path\":\"data/x\"}").submit());
    add(
        "envelope-escape-resources",
        10,
        "more memory than the role may have",
        List.of("DENY GRD-406"),
        ask("calc")
            .effect(
                "resources",
                json("{\"cpu_ms\":60000,\"memory_bytes\":1,\"output_bytes\":1,\"wall_ms\":1}"))
            .submit());
    add(
        "envelope-escape-sandbox",
        10,
        "a sandbox profile that the tool does not name",
        List.of("DENY GRD-407"),
        ask("calc").effect("sandbox", "missing-box").submit());
    add(
        "envelope-escape-no-silent-downgrade",
        10,
        "a sandbox profile that is not there: no other takes its place",
        List.of("EXE-305"),
        ask("odd").effect("sandbox", "missing-box").submit());
  }

  private void keys() {
    add(
        "key-substitution-request",
        1,
        "a request in the name of somebody else",
        List.of("GRD-003"),
        ask("alice", "mail", "n-1").signedBy("bob").submit());
    add(
        "key-substitution-executor",
        1,
        "an executor's key signs no requests",
        List.of("CAN-053"),
        ask("alice", "mail", "n-1").signedBy("executor").submit());
    add(
        "key-substitution-enrolled-twice",
        6,
        "a key has one role: enrolling it for a second one is refused",
        List.of("CAN-056"),
        step("change")
            .put("kind", "key.enrolled")
            .put(
                "detail",
                new TestParty("alice", KeyRole.GUARDIAN, Optional.empty()).trusted().toJson())
            .put("signer", "operator"));
    add(
        "key-substitution-enrolled-by-itself",
        9,
        "nobody enrols himself",
        List.of("CAN-053"),
        step("change")
            .put("kind", "key.enrolled")
            .put(
                "detail",
                new TestParty("mallory", KeyRole.AGENT, Optional.of("acme")).trusted().toJson())
            .put("signer", "alice"));
  }

  private void downgrade() {
    add(
        "downgrade-policy-version",
        9,
        "the ledger refuses to go back to an earlier policy",
        List.of(DONE, "EXE-906"),
        activate(Plot.next("limit: 100,", "limit: 99,"), "owner"),
        activate(Plot.policy(), "owner"));
    add(
        "downgrade-policy-fork",
        9,
        "a second policy that follows the first does not follow the second",
        List.of(DONE, "EXE-906"),
        activate(Plot.next("limit: 100,", "limit: 99,"), "owner"),
        activate(
            Plot.policy(3, Optional.of(Plot.policy().digest()), "limit: 100,", "limit: 98,"),
            "owner"));
    JsonValue.Obj request = ask("mail").document();
    Envelope old =
        Envelope.sign("application/vnd.writ.request.v0+json", request, TestKeys.key("alice"));
    add(
        "downgrade-request-version",
        6,
        "a request of an older version of its type, rightly signed",
        List.of("CAN-061"),
        step("send").put("envelope_b64", StrictBase64.encode(old.toBytes())));
  }

  private void crashes() {
    add(
        "crash-then-ask-again",
        4,
        "a crash between dispatch and receipt: asking again never runs it twice, nor another key",
        List.of(DONE, "crashed", "ALLOW in_doubt repeated", "ALLOW in_doubt repeated"),
        tool("mail", "{\"does\":\"crash\"}"),
        ask("alice", "mail", "n-1").with("idempotency_key", "k").submit(),
        again(2),
        ask("alice", "mail", "n-2").with("idempotency_key", "k").submit());
    add(
        "restored-backup",
        4,
        "a backup that was put back is told from the anchor, and refused",
        List.of(DONE, SERVED, "LED-011"),
        step("backup"),
        ask("mail").submit(),
        step("restore"));
  }
}

package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.Plot.clock;
import static dev.writ.conform.world.Plot.execute;
import static dev.writ.conform.world.Plot.json;
import static dev.writ.conform.world.Plot.prohibit;
import static dev.writ.conform.world.Plot.revoke;
import static dev.writ.conform.world.Plot.step;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The part of golden-vectors/executor on the governance of tools. */
final class GovernanceVectors {
  private static final String DONE = "done";
  private static final String SERVED = "ALLOW succeeded";
  private static final String DENIED = "DENY GRD-416";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    GovernanceVectors vectors = new GovernanceVectors();
    vectors.ways();
    vectors.shares();
    vectors.order();
    vectors.words();
    vectors.stages();
    vectors.runtimes();
    return vectors.made;
  }

  private void add(String name, String about, List<String> wanted, ObjectBuilder... steps) {
    made.add(
        new Made(
            "executor/governance-" + name,
            about,
            Optional.empty(),
            "executor.run",
            Plot.governed(steps),
            wanted));
  }

  private static ObjectBuilder word(String kind, String signer, Digest digest, String more) {
    return word(kind, signer, "words", digest, more);
  }

  private static ObjectBuilder word(
      String kind, String signer, String tool, Digest digest, String more) {
    var detail =
        JsonValue.object().put("tool", tool).put("version", "1.0.0").put("package", digest);
    json(more).members().forEach(detail::put);
    return step("change").put("kind", kind).put("detail", detail.build()).put("signer", signer);
  }

  private static final Digest WORDS = Plot.WORDS.packageDigest();

  private static ObjectBuilder submitted() {
    return word("tool.submitted", "pub", WORDS, "{}");
  }

  private static ObjectBuilder validated() {
    return word("tool.validated", "operator", WORDS, "{\"findings\":[],\"validator\":\"v\"}");
  }

  private static ObjectBuilder said(String approver, String role, String verdict) {
    return word(
        "tool.approved",
        approver,
        WORDS,
        "{\"approver\":\""
            + approver
            + "\",\"role\":\""
            + role
            + "\",\"verdict\":\""
            + verdict
            + "\"}");
  }

  private static ObjectBuilder approved(String approver) {
    return said(approver, "tool-reviewer", "approve");
  }

  private static ObjectBuilder staged(String stage) {
    return word("tool.staged", "operator", WORDS, "{\"stage\":\"" + stage + "\"}");
  }

  private static ObjectBuilder canary(String tenants, int percent) {
    return canary("{\"percent\":" + percent + ",\"tenants\":" + tenants + "}");
  }

  private static ObjectBuilder canaryBy(String by, int percent) {
    return canary("{\"by\":\"" + by + "\",\"percent\":" + percent + ",\"tenants\":[]}");
  }

  private static ObjectBuilder canary(String json) {
    return word("tool.staged", "operator", WORDS, "{\"stage\":\"canary\",\"canary\":" + json + "}");
  }

  /** The four steps before a stage, and more behind them. */
  private void approved(String name, String about, List<String> wanted, ObjectBuilder... more) {
    add(
        name,
        about,
        Stream.concat(Stream.of(DONE, DONE, DONE, DONE), wanted.stream()).toList(),
        Stream.concat(
                Stream.of(submitted(), validated(), approved("ada"), approved("ben")),
                Stream.of(more))
            .toArray(ObjectBuilder[]::new));
  }

  private static ObjectBuilder use(String agent, String nonce) {
    return ask(agent, "words", nonce).submit();
  }

  private void ways() {
    approved(
        "whole-way",
        "from its submission to its retirement a version runs where its stage lets it",
        List.of(
            DENIED, DONE, SERVED, DENIED, DONE, DONE, SERVED, DONE, DONE, SERVED, DONE, DONE,
            DENIED),
        use("alice", "n-1"),
        canary("[\"acme\"]", 0),
        use("alice", "n-2"),
        use("eve", "n-3"),
        clock(1),
        staged("active"),
        use("eve", "n-4"),
        clock(1),
        staged("deprecated"),
        use("alice", "n-5"),
        clock(1),
        staged("retired"),
        use("alice", "n-6"));
    approved(
        "canary-all",
        "a canary of all runs is every tenant's",
        List.of(DONE, SERVED),
        canary("[]", 100),
        use("eve", "n-1"));
    approved(
        "revoked",
        "a revoked version is refused in whatever stage",
        List.of(DONE, "ALLOW", DONE, "EXE-303", DENIED),
        staged("active"),
        ask("alice", "words", "n-1").decide(),
        prohibit("words"),
        execute(6, 6, "alice"),
        use("alice", "n-2"));
    approved(
        "another-stage",
        "another stage voids what was decided before",
        List.of(DONE, "ALLOW", DONE, DONE, "EXE-201"),
        staged("active"),
        ask("alice", "words", "n-1").decide(),
        clock(1),
        staged("deprecated"),
        execute(6, 6, "alice"));
    approved(
        "another-canary",
        "a canary that ends for a tenant ends for what was decided before",
        List.of(DONE, "ALLOW", DONE, DONE, "EXE-302"),
        canary("[\"acme\"]", 0),
        ask("alice", "words", "n-1").decide(),
        clock(1),
        canary("[\"other\"]", 0),
        execute(6, 6, "alice"));
  }

  /** The place of acme's alice among a hundred, for words 1.0.0: worked out beside the code. */
  private static final int ALICE_PLACE = 32;

  private void shares() {
    approved(
        "canary-by-subject",
        "a share of subjects has alice in each of her runs, or in none",
        List.of(DONE, DENIED, DENIED, DONE, DONE, SERVED, SERVED),
        canaryBy("subject", ALICE_PLACE),
        use("alice", "n-1"),
        ask("alice", "words", "n-2").with("run", "run-2").submit(),
        clock(1),
        canaryBy("subject", ALICE_PLACE + 1),
        use("alice", "n-3"),
        ask("alice", "words", "n-4").with("run", "run-2").submit());
    approved(
        "canary-by-subject-narrowed",
        "a share that no longer has the subject is refused in stage 3",
        List.of(DONE, "ALLOW", DONE, DONE, "EXE-302"),
        canaryBy("subject", ALICE_PLACE + 1),
        ask("alice", "words", "n-1").decide(),
        clock(1),
        canaryBy("subject", ALICE_PLACE),
        execute(6, 6, "alice"));
    approved(
        "canary-by-run",
        "a share of runs is not staged any more: callers name them",
        List.of("EXE-984", "EXE-984"),
        canary("[]", 1),
        canary("[\"acme\"]", 99));
    approved(
        "canary-by-something",
        "a share of anything else is none",
        List.of("CAN-023"),
        canaryBy("run", 1));
  }

  private void order() {
    add(
        "not-submitted",
        "nothing is said of what nobody submitted",
        List.of("EXE-914"),
        validated());
    add(
        "submitted-twice",
        "a package is submitted once",
        List.of(DONE, "EXE-914"),
        submitted(),
        submitted());
    add(
        "prohibited",
        "a prohibited version is not submitted",
        List.of(DONE, "EXE-914"),
        prohibit("words"),
        submitted());
    add(
        "not-covered",
        "a tool that policy does not let govern is not submitted",
        List.of("EXE-915"),
        word("tool.submitted", "pub", "letters", WORDS, "{}"));
    add(
        "listed",
        "a version that policy lists is not submitted",
        List.of("EXE-915"),
        word("tool.submitted", "pub", "calc", WORDS, "{}"));
    add(
        "another-package",
        "a validation of another package says nothing of this one",
        List.of(DONE, "EXE-915"),
        submitted(),
        word(
            "tool.validated",
            "operator",
            Digest.sha256(),
            "{\"findings\":[],\"validator\":\"v\"}"));
    add(
        "agent-submits",
        "an agent's key submits nothing",
        List.of("CAN-053"),
        word("tool.submitted", "alice", WORDS, "{}"));
  }

  private void words() {
    add(
        "not-validated",
        "what is not validated cannot be approved",
        List.of(DONE, "EXE-917"),
        submitted(),
        approved("ada"));
    add(
        "validation-failed",
        "what did not pass cannot be approved",
        List.of(DONE, DONE, "EXE-917"),
        submitted(),
        word(
            "tool.validated",
            "operator",
            WORDS,
            "{\"findings\":[{\"code\":\"TOL-211\",\"found\":\"socket\",\"place\":\"a.py\"}],"
                + "\"validator\":\"v\"}"),
        approved("ada"));
    add(
        "twice-by-one",
        "an approver approves once",
        List.of(DONE, DONE, DONE, "EXE-914"),
        submitted(),
        validated(),
        approved("ada"),
        approved("ada"));
    add(
        "role-not-held",
        "in a role that policy does not give the approver",
        List.of(DONE, DONE, "EXE-916"),
        submitted(),
        validated(),
        approved("cyd"));
    add(
        "in-the-name-of-another",
        "by another key than that of whom it names",
        List.of(DONE, DONE, "EXE-916"),
        submitted(),
        validated(),
        word(
            "tool.approved",
            "ada",
            WORDS,
            "{\"approver\":\"ben\",\"role\":\"tool-reviewer\",\"verdict\":\"approve\"}"));
    add(
        "approver-of-a-tenant",
        "by an approver of one tenant",
        List.of(DONE, DONE, "CAN-053"),
        submitted(),
        validated(),
        approved("rita"));
    add(
        "rejected",
        "a rejection is final",
        List.of(DONE, DONE, DONE, DONE, DONE, "EXE-917"),
        submitted(),
        validated(),
        approved("ada"),
        approved("ben"),
        said("cyd", "other", "reject"),
        staged("active"));
  }

  private void stages() {
    add(
        "one-approval-missing",
        "one approver fewer than policy asks for",
        List.of(DONE, DONE, DONE, "EXE-917"),
        submitted(),
        validated(),
        approved("ada"),
        staged("active"));
    add(
        "canary-without-approvals",
        "a canary runs too, so it is approved too",
        List.of(DONE, DONE, "EXE-917"),
        submitted(),
        validated(),
        canary("[]", 1));
    approved(
        "approver-revoked",
        "the word of a revoked key does not count",
        List.of(DONE, "EXE-917"),
        revoke("ben"),
        staged("active"));
    approved(
        "retired-to-active",
        "what is retired stays so",
        List.of(DONE, DONE, "EXE-914"),
        staged("retired"),
        clock(1),
        staged("active"));
    approved(
        "draft-to-deprecated",
        "a draft is not deprecated",
        List.of("EXE-914"),
        staged("deprecated"));
    approved(
        "stage-not-later",
        "a stage is said after the one before",
        List.of(DONE, "EXE-914"),
        staged("active"),
        staged("deprecated"));
    approved("canary-missing", "a canary says who meets it", List.of("CAN-023"), staged("canary"));
    approved(
        "canary-unsorted",
        "its tenants are sorted",
        List.of("CAN-023"),
        canary("[\"b\",\"a\"]", 1));
    approved("canary-101", "a share is 100 at most", List.of("CAN-023"), canary("[]", 101));
  }

  private static ObjectBuilder runtime(String kind) {
    return step("change")
        .put("kind", kind)
        .put("detail", json("{\"language\":\"python\",\"version\":\"3.13.5\"}"))
        .put("signer", "operator");
  }

  private void runtimes() {
    add(
        "runtime-twice",
        "a runtime is approved when it is not",
        List.of(DONE, "EXE-914"),
        runtime("runtime.approved"),
        runtime("runtime.approved"));
    add(
        "runtime-withdrawn",
        "and withdrawn when it is approved",
        List.of("EXE-914", DONE, DONE, DONE, "EXE-914"),
        runtime("runtime.withdrawn"),
        runtime("runtime.approved"),
        clock(1),
        runtime("runtime.withdrawn"),
        runtime("runtime.withdrawn"));
  }
}

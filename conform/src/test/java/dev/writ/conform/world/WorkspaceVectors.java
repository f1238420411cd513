package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.again;
import static dev.writ.conform.world.Plot.approve;
import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.Plot.close;
import static dev.writ.conform.world.Plot.race;
import static dev.writ.conform.world.Plot.restart;
import static dev.writ.conform.world.Plot.step;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.conform.world.Plot.Ask;
import dev.writ.executor.driver.RunWorkspaces;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes golden-vectors/executor/workspace-*: protocol rule 20. */
final class WorkspaceVectors {
  private static final String SERVED = "ALLOW succeeded";
  private static final String DONE = "done";
  private static final Digest EMPTY = RunWorkspaces.EMPTY;

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    WorkspaceVectors vectors = new WorkspaceVectors();
    vectors.served();
    vectors.pins();
    vectors.doubts();
    vectors.measures();
    vectors.ends();
    return vectors.made;
  }

  private void add(String name, String about, List<String> wanted, ObjectBuilder... steps) {
    made.add(
        new Made(
            "executor/workspace-" + name,
            about,
            Optional.empty(),
            "executor.run",
            Plot.workshop(steps),
            wanted));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** The tree of a workspace whose file holds that. */
  private static JsonValue tree(String content) {
    Digest tree =
        content.isEmpty()
            ? EMPTY
            : Digest.sha256(bytes("f 644 " + Digest.sha256(bytes(content)).hex() + " file\0"));
    return JsonValue.of(tree.toString());
  }

  /** A tool that appends to the file of its run's workspace, and ends so. */
  private static ObjectBuilder appends(String tool, String more, String end) {
    return does(tool, more, JsonValue.object().put("does", "end"), end);
  }

  private static ObjectBuilder does(String tool, String more, ObjectBuilder behaviour, String end) {
    behaviour.put("appends_b64", StrictBase64.encode(bytes(more)));
    if (!end.isEmpty()) {
      behaviour
          .put("end", end)
          .put("reason", end.equals("succeeded") ? "ok" : "exit-1")
          .put("message", "")
          .put("output_b64", StrictBase64.encode(bytes("{\"ok\":true}")))
          .put("media_type", "application/json");
    }
    return step("tool").put("name", tool).put("behaviour", behaviour.build());
  }

  private static Ask nth(String tool, int n) {
    return ask("alice", tool, "nonce-" + n).params("{\"n\":" + n + "}");
  }

  private static Ask pinned(String tool, int n, String content) {
    return nth(tool, n).effect("workspace_before", tree(content));
  }

  private static ObjectBuilder resolve(long receipt) {
    return step("resolve")
        .put("receipt", receipt)
        .put("found", "happened")
        .put("signer", "operator");
  }

  private static ObjectBuilder changed(String content) {
    return step("workspace")
        .put("tenant", "acme")
        .put("run", "run-1")
        .put("content_b64", StrictBase64.encode(bytes(content)));
  }

  private void served() {
    add(
        "served",
        "receipts have the tree before and after; each begins where the one before ended",
        List.of(DONE, SERVED, SERVED, SERVED, DONE, SERVED),
        appends("desk", "a", "succeeded"),
        nth("desk", 1).submit(),
        nth("mail", 2).submit(),
        nth("desk", 3).submit(),
        restart(),
        nth("desk", 4).submit());
    add(
        "of-each-run",
        "a workspace is of one tenant and run",
        List.of(DONE, SERVED, SERVED, SERVED),
        appends("desk", "a", "succeeded"),
        nth("desk", 1).submit(),
        nth("desk", 2).with("run", "run-2").submit(),
        ask("eve", "desk", "nonce-3").submit());
    for (String end : List.of("failed", "timed_out", "killed")) {
      add(
          end.replace('_', '-'),
          "an effect that ends so has both trees too",
          List.of(DONE, "ALLOW " + end, SERVED),
          appends("desk", "a", end),
          nth("desk", 1).submit(),
          pinned("lathe", 2, "a").submit());
    }
    add(
        "driver-breaks",
        "so has one whose driver broke",
        List.of(DONE, "ALLOW failed EXE-401", SERVED),
        does("desk", "a", JsonValue.object().put("does", "throw"), ""),
        nth("desk", 1).submit(),
        pinned("lathe", 2, "a").submit());
    List<JsonValue> eight = new ArrayList<>();
    for (int n = 1; n <= 8; n++) {
      eight.add(nth("desk", n).racing());
    }
    add(
        "race",
        "eight at once: each works on what the one before left",
        List.of(DONE, "8 succeeded", SERVED),
        appends("desk", "a", "succeeded"),
        race(eight),
        pinned("lathe", 9, "a".repeat(8)).submit());
  }

  private void pins() {
    add(
        "pin-holds",
        "a tree that the effect pins and that is there",
        List.of(DONE, SERVED, SERVED),
        appends("desk", "a", "succeeded"),
        pinned("desk", 1, "").submit(),
        pinned("desk", 2, "a").submit());
    add(
        "pin-differs",
        "another tree than the pinned one: nothing is dispatched",
        List.of(DONE, SERVED, "EXE-310", "EXE-310", SERVED),
        appends("desk", "a", "succeeded"),
        nth("desk", 1).submit(),
        pinned("desk", 2, "").submit(),
        again(3),
        pinned("desk", 3, "a").submit());
    add(
        "pin-changed-by-hand",
        "somebody changed the tree in between",
        List.of(DONE, SERVED, DONE, "EXE-310", DONE, SERVED),
        appends("desk", "a", "succeeded"),
        nth("desk", 1).submit(),
        changed("other"),
        pinned("desk", 2, "a").submit(),
        changed("a"),
        again(4));
    add(
        "unpinned-reproducible",
        "a reproducible tool must pin",
        List.of("DENY GRD-411"),
        nth("lathe", 1).submit());
    add(
        "unpinned-approved",
        "an approval of what does not pin approves nothing",
        List.of("ESCALATE GRD-104", "DENY GRD-411"),
        nth("vault", 1).submit(),
        approve(1, "rita", "approve"));
    add(
        "approved",
        "an approval is for the tree that its effect pins",
        List.of("ESCALATE GRD-104", "ALLOW", SERVED),
        pinned("vault", 1, "").submit(),
        approve(1, "rita", "approve"),
        again(1));
    add(
        "approved-and-changed",
        "and for no other",
        List.of(DONE, "ESCALATE GRD-104", "ALLOW", SERVED, "EXE-310"),
        appends("desk", "a", "succeeded"),
        pinned("vault", 1, "").submit(),
        approve(2, "rita", "approve"),
        nth("desk", 2).submit(),
        again(2));
  }

  private void doubts() {
    ObjectBuilder crash = JsonValue.object().put("does", "crash");
    add(
        "in-doubt",
        "a doubt quarantines the workspace of its run until it is resolved, over a restart",
        List.of(
            DONE,
            "crashed",
            "ALLOW in_doubt repeated",
            DONE,
            "EXE-311",
            DONE,
            "EXE-311",
            SERVED,
            SERVED,
            DONE,
            SERVED),
        does("desk", "a", crash, ""),
        nth("desk", 1).submit(),
        again(2),
        appends("desk", "b", "succeeded"),
        nth("desk", 2).submit(),
        restart(),
        pinned("lathe", 3, "a").submit(),
        nth("mail", 4).submit(),
        nth("desk", 5).with("run", "run-2").submit(),
        resolve(3),
        again(5));
    add(
        "in-doubt-elsewhere",
        "the doubt of an effect that uses no workspace quarantines none",
        List.of(DONE, "crashed", "ALLOW in_doubt repeated", SERVED),
        step("tool")
            .put("name", "mail")
            .put("behaviour", JsonValue.object().put("does", "crash").build()),
        nth("mail", 1).submit(),
        again(2),
        nth("desk", 2).submit());
  }

  private void measures() {
    add(
        "none",
        "an installation without workspaces refuses what needs one",
        List.of(DONE, "EXE-309", SERVED, DONE, SERVED),
        restart().put("workspaces", false),
        nth("desk", 1).submit(),
        nth("mail", 2).submit(),
        restart(),
        again(2));
    add(
        "unmeasured-before",
        "a tree that cannot be measured: nothing is dispatched",
        List.of(DONE, "EXE-308", DONE, SERVED),
        step("measure").put("fails", true),
        nth("desk", 1).submit(),
        step("measure").put("fails", false),
        again(2));
    add(
        "unmeasured-after",
        "a tree that cannot be measured afterwards: the receipt says so, and the run uses it no"
            + " more",
        List.of(DONE, "ALLOW failed EXE-402", DONE, DONE, "EXE-311", DONE, "EXE-311", DONE),
        does(
            "desk",
            "a",
            JsonValue.object().put("does", "end").put("unmeasured", true),
            "succeeded"),
        nth("desk", 1).submit(),
        step("measure").put("fails", false),
        appends("desk", "b", "succeeded"),
        nth("desk", 2).submit(),
        restart(),
        pinned("lathe", 3, "a").submit(),
        close("run-1", "alice"));
  }

  private void ends() {
    add(
        "closed",
        "the workspace of a closed run is wiped, and no other",
        List.of(DONE, SERVED, SERVED, DONE),
        appends("desk", "a", "succeeded"),
        nth("desk", 1).submit(),
        nth("desk", 2).with("run", "run-2").submit(),
        close("run-1", "alice"));
    add(
        "not-wiped",
        "a wipe that fails is told; the run is closed, and it is wiped at the next start",
        List.of(DONE, SERVED, DONE, "EXE-913", "EXE-901", DONE, DONE),
        appends("desk", "a", "succeeded"),
        nth("desk", 1).submit(),
        step("measure").put("fails", true),
        close("run-1", "alice"),
        nth("desk", 2).submit(),
        step("measure").put("fails", false),
        restart());
  }
}

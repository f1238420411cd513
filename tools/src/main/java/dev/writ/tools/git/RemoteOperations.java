package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Ended;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Operations that contact a server. */
final class RemoteOperations {
  private RemoteOperations() {}

  static DriverOutcome cloneInto(GitCall call) {
    Place place = call.place();
    Remote remote = call.remote(false);
    Repository.requireFree(call.workspace(), place);
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "clone", "--quiet", "--template=", "--no-recurse-submodules", "--origin=origin"));
    call.text("ref").ifPresent(ref -> arguments.add("--branch=" + Revisions.name(ref)));
    if (call.params().has("depth")) {
      arguments.add("--depth=" + depth(call.params().count("depth")));
    }
    arguments.addAll(List.of("--", remote.url().text(), place.inside()));
    Ended ended = call.outside(arguments, Optional.of(remote));
    if (!ended.succeeded()) {
      return call.failed(ended);
    }
    Repository.require(call.workspace(), place);
    return call.done(ended, call.state(place));
  }

  private static long depth(long depth) {
    if (depth < 1 || depth > 1_000_000) {
      throw new WritException(ToolsError.GIT_REVISION, "a depth of " + depth);
    }
    return depth;
  }

  static DriverOutcome fetch(GitCall call) {
    Place place = call.repository();
    Ended ended = fetched(call, place, call.text("ref"));
    if (!ended.succeeded()) {
      return call.failed(ended);
    }
    TreeMap<String, JsonValue> members = new TreeMap<>();
    Optional<String> ref = call.text("ref");
    if (ref.isPresent()) {
      Ended at = call.in(place, List.of("rev-parse", "--verify", "--quiet", tracking(ref.get())));
      members.put(
          "commit", at.succeeded() ? JsonValue.of(GitCall.out(at).strip()) : JsonValue.NULL);
    }
    return call.done(ended, members);
  }

  private static Ended fetched(GitCall call, Place place, Optional<String> ref) {
    Remote remote = call.remote(false);
    String refspec =
        ref.map(r -> "+refs/heads/" + Revisions.name(r) + ":" + tracking(r))
            .orElse("+refs/heads/*:refs/remotes/origin/*");
    List<String> arguments =
        List.of(
            "fetch",
            "--quiet",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-write-fetch-head",
            "--",
            remote.url().text(),
            refspec);
    return call.in(place, arguments, remote);
  }

  private static String tracking(String ref) {
    return "refs/remotes/origin/" + ref;
  }

  /** Fetches a branch and moves what is checked out forward to it; nothing is ever merged. */
  static DriverOutcome pull(GitCall call) {
    Place place = call.repository();
    String ref = Revisions.name(call.params().string("ref"));
    Ended fetched = fetched(call, place, Optional.of(ref));
    if (!fetched.succeeded()) {
      return call.failed(fetched);
    }
    Ended ended =
        call.in(place, List.of("merge", "--quiet", "--ff-only", "--no-edit", tracking(ref)));
    return ended.succeeded() ? call.done(ended, call.state(place)) : call.failed(ended);
  }

  static DriverOutcome push(GitCall call) {
    Place place = call.repository();
    Remote remote = call.remote(true);
    String from = Revisions.full(call.params().string("ref"));
    String to = Revisions.full(call.text("to").orElse(from));
    Push push = new Push(call, place, remote, from, to);
    // With it, the reference is replaced if it still names that commit; otherwise it is only moved
    // forward.
    Optional<String> expect = call.text("expect");
    return expect.isPresent() ? push.replace(Revisions.id(expect.get())) : push.moveOn();
  }
}

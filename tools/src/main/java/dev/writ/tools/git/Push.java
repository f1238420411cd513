package dev.writ.tools.git;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Ended;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One reference of a server, and the local one that it shall become.
 *
 * @param from the full name of the local one
 * @param to the full name of the server's
 */
record Push(GitCall call, Place place, Remote remote, String from, String to) {
  /** In git's words, a reference that moves forward: from which commit to which. */
  private static final Pattern FORWARD =
      Pattern.compile("(?m)^ \t[^\t\n]+\t([0-9a-f]{40,64})\\.\\.([0-9a-f]{40,64})$");

  private static final Pattern NEW = Pattern.compile("(?m)^\\*\t");

  /** Replaces the server's reference if it still names that commit; the empty one for none. */
  DriverOutcome replace(String expected) {
    return done(push(List.of(), List.of("--force-with-lease=" + to + ":" + expected)));
  }

  /**
   * Moves the server's reference forward, or makes it. Whether it is forward is git's word only
   * until it is proved; the lease holds the server to the commit for which it was.
   */
  DriverOutcome moveOn() {
    Ended tried = push(List.of("-c", "core.abbrev=no"), List.of("--dry-run"));
    String said = GitCall.out(tried);
    if (tried.succeeded() && NEW.matcher(said).find()) {
      return replace("");
    }
    Matcher forward = FORWARD.matcher(said);
    if (!tried.succeeded() || !forward.find()) {
      return done(tried);
    }
    String old = forward.group(1);
    return descends(forward.group(2), old)
        ? replace(old)
        : call.failed(
            tried,
            "push-rejected",
            "that the server's commit stays in the history cannot be proved from the local commits",
            members(tried));
  }

  private boolean descends(String commit, String old) {
    Ended listed =
        call.in(place, List.of("rev-list", "--parents", "--ancestry-path", old + ".." + commit));
    List<String> path = Ancestry.path(GitCall.out(listed), commit, old);
    if (!listed.succeeded() || path.isEmpty()) {
      return false;
    }
    byte[] names = (String.join("\n", path) + "\n").getBytes(StandardCharsets.US_ASCII);
    Ended read = call.in(place, List.of("cat-file", "--batch"), names);
    return read.succeeded() && Ancestry.proves(read.stdout().bytes(), path, old);
  }

  private Ended push(List<String> before, List<String> options) {
    List<String> arguments = new ArrayList<>(before);
    arguments.addAll(
        List.of(
            "push",
            "--porcelain",
            "--no-verify",
            "--no-recurse-submodules",
            "--no-signed",
            "--no-follow-tags",
            "--no-force"));
    arguments.addAll(options);
    arguments.addAll(List.of("--", remote.url().text(), from + ":" + to));
    return call.in(place, arguments, remote);
  }

  private DriverOutcome done(Ended ended) {
    return call.done(ended, members(ended));
  }

  private static SortedMap<String, JsonValue> members(Ended ended) {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    members.put("updates", GitText.updates(GitCall.out(ended)));
    return members;
  }
}

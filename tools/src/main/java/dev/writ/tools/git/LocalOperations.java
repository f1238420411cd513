package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Ended;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Operations on a repository in the workspace, without a network. */
final class LocalOperations {
  private static final int MOST_MESSAGE = 64 * 1024;
  private static final long MOST_ENTRIES = 1_000;
  private static final long STANDARD_ENTRIES = 50;

  private LocalOperations() {}

  static DriverOutcome init(GitCall call) {
    Place place = call.place();
    Repository.requireFree(call.workspace(), place);
    String branch = Revisions.name(call.text("branch").orElse("main"));
    Ended ended =
        call.outside(
            List.of("init", "--quiet", "--template=", "--initial-branch=" + branch, place.inside()),
            Optional.empty());
    if (!ended.succeeded()) {
      return call.failed(ended);
    }
    Repository.require(call.workspace(), place);
    return call.done(ended, call.state(place));
  }

  static DriverOutcome checkout(GitCall call) {
    Place place = call.repository();
    List<String> arguments =
        new ArrayList<>(List.of("checkout", "--quiet", "--no-recurse-submodules"));
    call.text("create").ifPresent(name -> arguments.addAll(List.of("-b", Revisions.name(name))));
    call.text("ref").ifPresent(ref -> arguments.add(Revisions.commit(ref)));
    if (!call.params().has("create") && !call.params().has("ref")) {
      throw new WritException(ToolsError.GIT_REVISION, "neither ref nor create says where to");
    }
    arguments.add("--");
    Ended ended = call.in(place, arguments);
    return ended.succeeded() ? call.done(ended, call.state(place)) : call.failed(ended);
  }

  static DriverOutcome commit(GitCall call) {
    Place place = call.repository();
    List<String> add = new ArrayList<>(List.of("add", "--all", "--"));
    add.addAll(paths(call, List.of(".")));
    byte[] message = message(call.params().string("message"));
    Ended added = call.in(place, add);
    if (!added.succeeded()) {
      return call.failed(added);
    }
    Ended ended =
        call.in(
            place,
            List.of(
                "commit",
                "--no-verify",
                "--no-gpg-sign",
                "--no-edit",
                "--no-status",
                "--cleanup=verbatim",
                "--file=-"),
            message);
    if (!ended.succeeded()) {
      return call.failed(ended);
    }
    Ended shown =
        call.in(
            place,
            List.of(
                "diff-tree",
                "-r",
                "--root",
                "--raw",
                "--numstat",
                "-z",
                "--no-renames",
                "--no-abbrev",
                "--no-ext-diff",
                "--no-textconv",
                "HEAD"));
    GitText.Changes changes = GitText.changes(GitCall.out(shown));
    TreeMap<String, JsonValue> members = new TreeMap<>();
    members.put("commit", JsonValue.of(changes.commit()));
    members.put("branch", Repository.branch(call.workspace(), place));
    return call.parsed(
        ended,
        changes.files().size(),
        n -> {
          members.put("files", JsonValue.of(changes.files().subList(0, n)));
          members.put("files_truncated", JsonValue.of(n < changes.files().size()));
          return members;
        });
  }

  private static byte[] message(String text) {
    boolean good =
        !text.isBlank()
            && text.length() <= MOST_MESSAGE
            && text.codePoints().noneMatch(c -> c == 0 || c >= 0xD800 && c <= 0xDFFF);
    if (!good) {
      throw new WritException(ToolsError.GIT_TEXT, "a message of " + text.length() + " characters");
    }
    return GitCall.bytes(text.endsWith("\n") ? text : text + "\n");
  }

  private static List<String> paths(GitCall call, List<String> standard) {
    return call.params()
        .optional("paths", key -> call.params().list(key, Fields::stringItem))
        .map(Place::files)
        .orElse(standard);
  }

  static DriverOutcome diff(GitCall call) {
    Place place = call.repository();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "diff",
                "--raw",
                "--numstat",
                "--patch",
                "-z",
                "--no-renames",
                "--no-abbrev",
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
                "--ignore-submodules=all",
                "--src-prefix=a/",
                "--dst-prefix=b/"));
    if (call.params().optional("staged", call.params()::bool).orElse(false)) {
      arguments.add("--cached");
    }
    call.text("from").ifPresent(from -> arguments.add(Revisions.commit(from)));
    call.text("to").ifPresent(to -> arguments.add(Revisions.commit(to)));
    arguments.add("--");
    arguments.addAll(paths(call, List.of()));
    Ended ended = call.in(place, arguments);
    GitText.Changes changes = GitText.changes(GitCall.out(ended));
    String text = changes.patch();
    boolean cut = ended.stdout().truncated();
    return call.parsed(
        ended,
        Math.max(text.length(), changes.files().size()),
        n -> {
          TreeMap<String, JsonValue> members = new TreeMap<>();
          int files = Math.min(n, changes.files().size());
          members.put("diff", JsonValue.of(GitText.cut(text, n)));
          members.put("diff_truncated", JsonValue.of(cut || n < text.length()));
          members.put("files", JsonValue.of(changes.files().subList(0, files)));
          members.put("files_truncated", JsonValue.of(files < changes.files().size()));
          return members;
        });
  }

  static DriverOutcome log(GitCall call) {
    Place place = call.repository();
    long most =
        Math.clamp(
            call.params().optional("max", call.params()::count).orElse(STANDARD_ENTRIES),
            1,
            MOST_ENTRIES);
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "log",
                "-z",
                "--max-count=" + (most + 1),
                "--format=" + GitText.LOG_FORMAT,
                "--no-show-signature",
                "--no-notes",
                "--no-mailmap",
                "--no-color",
                "--encoding=UTF-8",
                "--ignore-submodules=all",
                Revisions.commit(call.text("ref").orElse("HEAD")),
                "--"));
    arguments.addAll(paths(call, List.of()));
    Ended ended = call.in(place, arguments);
    List<JsonValue> entries = GitText.entries(GitCall.out(ended));
    return call.parsed(
        ended,
        (int) Math.min(most, entries.size()),
        n -> {
          TreeMap<String, JsonValue> members = new TreeMap<>();
          members.put("entries", JsonValue.of(entries.subList(0, n)));
          members.put("entries_truncated", JsonValue.of(n < entries.size()));
          return members;
        });
  }

  static DriverOutcome status(GitCall call) {
    Place place = call.repository();
    Ended ended =
        call.in(
            place,
            List.of(
                "status",
                "--porcelain=v2",
                "--branch",
                "-z",
                "--untracked-files=all",
                "--no-renames",
                "--ignore-submodules=all"));
    GitText.Status status = GitText.status(GitCall.out(ended));
    return call.parsed(
        ended,
        status.entries().size(),
        n -> {
          TreeMap<String, JsonValue> members = new TreeMap<>();
          members.put("commit", status.commit());
          members.put("branch", status.branch());
          members.put("entries", JsonValue.of(status.entries().subList(0, n)));
          members.put("entries_truncated", JsonValue.of(n < status.entries().size()));
          return members;
        });
  }
}

package dev.writ.sandbox;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.seccomp.SystemCalls;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The environment that a sandbox provides: versioned data, whose digest goes into the snapshot.
 *
 * @param home the value of HOME
 * @param path the value of PATH
 * @param system directories and files of the host that are visible, read-only, where they exist
 * @param hiddenProc files of /proc that read as empty
 * @param runBytes size of /run
 * @param shmBytes size of /dev/shm
 * @param tmpExec whether programs may run from /tmp
 * @param executablesListed whether a command must list its executables, so that no others exist
 * @param approval whether the request needs a signed approval
 */
public record Profile(
    String name,
    long version,
    String home,
    String path,
    List<String> system,
    List<String> hiddenProc,
    long runBytes,
    long shmBytes,
    boolean tmpExec,
    boolean executablesListed,
    boolean approval) {
  public Profile {
    system = List.copyOf(system);
    hiddenProc = List.copyOf(hiddenProc);
  }

  private static final ConcurrentSkipListMap<String, Profile> READ = new ConcurrentSkipListMap<>();

  /** The profiles of this release, in the order of seed 000. */
  public static final List<String> NAMES = List.of("default", "restricted", "privileged");

  /**
   * A profile of this release.
   *
   * @throws WritException {@code SBX-020} for another name
   */
  public static Profile named(String name) {
    if (!NAMES.contains(name)) {
      throw new WritException(
          SandboxError.PROFILE_UNKNOWN,
          "not one of " + NAMES + ", but " + name.length() + " letters");
    }
    return READ.computeIfAbsent(name, Profile::ofRelease);
  }

  private static Profile ofRelease(String name) {
    try (InputStream in = Profile.class.getResourceAsStream("profile-" + name + ".json")) {
      return read(Jcs.parse(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The digests of a profile in earlier releases. Replay accepts them for runs of those releases;
   * nothing else uses them.
   */
  public static List<Digest> before(String name) {
    try (InputStream in = Profile.class.getResourceAsStream("profiles-before.tsv")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.split("\t"))
          .filter(columns -> columns[0].equals(name))
          .map(columns -> Digest.parse(columns[2]))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Profile read(JsonValue document) {
    Fields fields = Fields.of("profile", document);
    Profile profile =
        new Profile(
            fields.name("name"),
            fields.count("version"),
            fields.name("home"),
            fields.name("path"),
            fields.list("system", Fields::stringItem),
            fields.list("hidden_proc", Fields::stringItem),
            fields.count("run_bytes"),
            fields.count("shm_bytes"),
            fields.bool("tmp_exec"),
            fields.bool("executables_listed"),
            fields.bool("approval"));
    fields.end();
    return profile;
  }

  /** The whole profile, with the digest of the table of system calls. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("version", version)
        .put("home", home)
        .put("path", path)
        .putList("system", system, JsonValue::of)
        .putList("hidden_proc", hiddenProc, JsonValue::of)
        .put("run_bytes", runBytes)
        .put("shm_bytes", shmBytes)
        .put("tmp_exec", tmpExec)
        .put("executables_listed", executablesListed)
        .put("approval", approval)
        .put("system_calls", SystemCalls.digest())
        .build();
  }

  /** The profile's digest, as it stands in snapshots. */
  public Digest digest() {
    return Jcs.digest(toJson());
  }
}

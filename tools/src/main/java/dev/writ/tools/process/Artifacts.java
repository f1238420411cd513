package dev.writ.tools.process;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.policy.engine.CallLimits;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.TarFilter;
import dev.writ.sandbox.workspace.TarWriter;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The artifacts of a call: the files that its patterns select in the workspace after its commands
 * have ended; the tree is read as hostile. All files are collected or none, since a list that stops
 * at a limit would look complete.
 *
 * @param files sorted by name, with the call's secrets masked; empty if they were refused
 * @param refusal why there are none although files match
 */
public record Artifacts(List<DriverOutcome.Artifact> files, Optional<Refusal> refusal) {
  /** The param that has the patterns, in every tool. */
  public static final String PARAM = "artifacts";

  /** More files than {@link Caps} allow, or larger ones. */
  public static final String LIMIT = "artifact-limit";

  /** A file whose name no document can hold, or whose name reveals a secret. */
  public static final String NAME = "artifact-name";

  /** A file of a media type that the tool does not declare. */
  public static final String UNDECLARED = "artifact-undeclared";

  private static final int NAME_CHARS_MAX = 256;

  /** The name of the archive of a whole workspace, without its extension. */
  private static final String WORKSPACE = "workspace";

  /**
   * No limit on sizes for the listing, so that one huge sparse file does not hide the others; sizes
   * are limited when files are read.
   */
  private static final TreeLimits WALK = new TreeLimits(100_000, Long.MAX_VALUE, 64);

  public Artifacts {
    files = List.copyOf(files);
  }

  /**
   * @param reason a stable word
   */
  public record Refusal(String reason, String message) {}

  /**
   * Limits of what is collected.
   *
   * @param count artifacts; a directory is one
   * @param inDirectory files of one directory
   * @param oneBytes of one file
   * @param allBytes of all files together
   */
  public record Caps(int count, int inDirectory, long oneBytes, long allBytes) {
    public static final Caps STANDARD = new Caps(64, 4_096, 16L << 20, 64L << 20);

    /** The standard, but for what policy's resource class sets. */
    static Caps of(CallLimits limits) {
      return new Caps(
          limits.artifacts().map(Math::toIntExact).orElse(STANDARD.count),
          STANDARD.inDirectory,
          limits.artifactBytes().orElse(STANDARD.oneBytes),
          limits.artifactsBytes().orElse(STANDARD.allBytes));
    }
  }

  public static Artifacts none() {
    return new Artifacts(List.of(), Optional.empty());
  }

  /**
   * Requires valid patterns, before anything runs.
   *
   * @throws WritException {@code TOL-045}
   */
  public static void requirePatterns(ProcessCall call) {
    ArtifactPattern.list(call.params(), PARAM);
  }

  /**
   * Collects the files that the call's patterns select.
   *
   * @param base the directory that they are relative to, {@code .} for the workspace
   * @throws WritException {@code TOL-045}; what the sandbox cannot read
   */
  public static Artifacts collect(ProcessCall call, String base) {
    List<ArtifactPattern> patterns = ArtifactPattern.list(call.params(), PARAM);
    return patterns.isEmpty()
        ? none()
        : collect(
            call.sandbox().workspace(),
            base,
            patterns,
            call.masking(),
            Caps.of(call.policyLimits()));
  }

  /**
   * Collects all files of a directory, each of which must be of a declared type.
   *
   * @param mediaTypes the types that the tool declares
   */
  public static Artifacts declared(ProcessCall call, String base, List<String> mediaTypes) {
    Artifacts all =
        collect(
            call.sandbox().workspace(),
            base,
            List.of(ArtifactPattern.parse("**")),
            call.masking(),
            Caps.of(call.policyLimits()));
    for (DriverOutcome.Artifact file : all.files()) {
      if (!mediaTypes.contains(file.mediaType())) {
        return new Artifacts(
            List.of(),
            Optional.of(
                new Refusal(
                    UNDECLARED, file.mediaType() + " is none of the declared " + mediaTypes)));
      }
    }
    return all;
  }

  static Artifacts collect(
      Workspace workspace,
      String base,
      List<ArtifactPattern> patterns,
      Masking masking,
      Caps caps) {
    try {
      return Uninterrupted.get(() -> {
        Collector collector = new Collector(workspace, base, masking, caps);
        collector.take(patterns);
        return new Artifacts(collector.found(), Optional.empty());
      });
    } catch (Refused e) {
      return new Artifacts(List.of(), Optional.of(e.refusal));
    } catch (WritException e) {
      if (e.code() == SandboxError.TREE_LIMIT) {
        return new Artifacts(List.of(), Optional.of(new Refusal(LIMIT, e.found())));
      }
      throw e;
    }
  }

  /** The outcome of a call with these artifacts; a failure if they were refused. */
  public DriverOutcome end(ProcessCall call, Ended ended, Supplier<DriverOutcome.Output> output) {
    DriverOutcome outcome = call.end(ended, output, files);
    return refusal.isPresent() && outcome.end() == DriverOutcome.End.SUCCEEDED
        ? call.failed(refusal.get().reason(), refusal.get().message(), outcome.output())
        : outcome;
  }

  /** For the tool's output: name, size, digest and media type of each. */
  public JsonValue.Arr toJson() {
    return JsonValue.of(
        files.stream()
            .map(file ->
                JsonValue.object()
                    .put("name", file.name())
                    .put("size", (long) file.bytes().length)
                    .put("digest", Digest.sha256(file.bytes()))
                    .put("media_type", file.mediaType())
                    .build())
            .toList());
  }

  /** A refusal to collect; does not leave this class. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Refusal refusal;

    Refused(String reason, String message) {
      super(message, null, false, false);
      this.refusal = new Refusal(reason, message);
    }
  }

  /** Reads the files of one workspace. */
  private static final class Collector implements TarFilter {
    private final Workspace workspace;
    private final String prefix;
    private final Masking masking;
    private final Caps caps;
    private final TreeMap<String, DriverOutcome.Artifact> found = new TreeMap<>();
    private long left;

    Collector(Workspace workspace, String base, Masking masking, Caps caps) {
      this.workspace = workspace;
      this.prefix = base.equals(".") ? "" : base + "/";
      this.masking = masking;
      this.caps = caps;
      this.left = caps.allBytes();
    }

    List<DriverOutcome.Artifact> found() {
      return List.copyOf(found.values());
    }

    void take(List<ArtifactPattern> patterns) {
      List<String> files =
          workspace.files(WALK).stream()
              .filter(name -> name.startsWith(prefix))
              .map(name -> name.substring(prefix.length()))
              .toList();
      TreeSet<String> single = new TreeSet<>();
      TreeSet<String> directories = new TreeSet<>();
      boolean itself = false;
      for (ArtifactPattern pattern : patterns) {
        if (pattern.isItself()) {
          itself = true;
        } else if (pattern.isDirectory()) {
          ArtifactPattern.directories(files).stream()
              .filter(pattern::matches)
              .forEach(directories::add);
        } else {
          files.stream().filter(pattern::matches).forEach(single::add);
        }
      }
      int count = single.size() + directories.size() + (itself ? 1 : 0);
      if (count > caps.count()) {
        throw new Refused(LIMIT, count + " files, at most " + caps.count());
      }
      single.forEach(name -> keep(name, read(name)));
      directories.forEach(name -> keep(name + ".tar", TarWriter.files(below(name + "/", files))));
      if (itself) {
        whole();
      }
    }

    /** An archive of the whole directory, including empty directories, links and modes. */
    private void whole() {
      String path = prefix.isEmpty() ? "." : prefix.substring(0, prefix.length() - 1);
      String name = prefix.isEmpty() ? WORKSPACE : path.substring(path.lastIndexOf('/') + 1);
      ByteArrayOutputStream tar = new ByteArrayOutputStream();
      try {
        workspace.exportTar(path, tar, new TreeLimits(caps.inDirectory(), left, 64), this);
      } catch (WritException e) {
        if (e.code() == SandboxError.PATH_MISSING) {
          return; // the command took it away
        }
        throw e;
      }
      keep(name + ".tar", tar.toByteArray());
    }

    @Override
    public byte[] content(byte[] bytes) {
      if (bytes.length > caps.oneBytes()) {
        throw new Refused(LIMIT, "a file of " + bytes.length + " bytes");
      }
      left -= bytes.length;
      return masking.apply(bytes);
    }

    @Override
    public void name(byte[] bytes) {
      if (masking.finds(bytes)) {
        throw new Refused(NAME, "it tells a secret");
      }
    }

    private SortedMap<String, byte[]> below(String directory, List<String> files) {
      List<String> names = new ArrayList<>();
      for (String file : files) {
        if (file.startsWith(directory)) {
          names.add(file);
        }
      }
      if (names.size() > caps.inDirectory()) {
        throw new Refused(
            LIMIT, names.size() + " files in a directory, at most " + caps.inDirectory());
      }
      TreeMap<String, byte[]> content = new TreeMap<>();
      for (String name : names) {
        requireTellable(name);
        content.put(name.substring(directory.length()), read(name));
      }
      return content;
    }

    private byte[] read(String name) {
      byte[] bytes = workspace.read(prefix + name, Math.min(caps.oneBytes(), left));
      left -= bytes.length;
      return masking.apply(bytes);
    }

    private void keep(String name, byte[] bytes) {
      requireTellable(name);
      boolean isName =
          name.length() <= NAME_CHARS_MAX && name.chars().noneMatch(c -> c < 0x20 || c == 0x7f);
      DriverOutcome.Artifact artifact =
          isName ? new DriverOutcome.Artifact(name, bytes, MediaTypes.of(name)) : null;
      if (artifact == null || found.put(name, artifact) != null) {
        throw new Refused(NAME, "a name of " + name.length() + " characters");
      }
    }

    private void requireTellable(String name) {
      if (masking.finds(name)) {
        throw new Refused(NAME, "it tells a secret");
      }
    }
  }
}

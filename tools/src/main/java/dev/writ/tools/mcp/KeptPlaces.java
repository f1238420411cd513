package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sandbox.Profile;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * What a server changes on this machine that is still there when it has ended (spec/tool-mcp.md,
 * What it keeps).
 *
 * @param writes folders that it sees at the same place and may write to: real paths, sorted, none
 *     of them in another
 * @param stateBytes how much the folder of its own may hold; empty for a server without one
 */
public record KeptPlaces(List<String> writes, OptionalLong stateBytes) {
  private static final List<String> SYSTEM =
      List.of(
          "/bin",
          "/boot",
          "/dev",
          "/etc",
          "/lib",
          "/lib64",
          "/proc",
          "/run",
          "/sbin",
          "/sys",
          "/tmp",
          "/usr",
          "/workspace",
          ServerSpec.PLACE);

  /** A server that keeps nothing. */
  public static final KeptPlaces NONE = new KeptPlaces(List.of(), OptionalLong.empty());

  /**
   * @throws WritException {@code TOL-238} for what is no folder that could be written to, wherever
   *     it is
   */
  public KeptPlaces {
    writes = List.copyOf(new TreeSet<>(writes));
    stateBytes.ifPresent(bytes ->
        ServerSpec.require(
            bytes >= ServerState.BYTES_MIN && bytes <= ServerState.BYTES_MAX,
            "its state may hold " + bytes + " bytes"));
    for (int i = 0; i < writes.size(); i++) {
      String folder = writes.get(i);
      String why = unfit(folder);
      if (!why.isEmpty()) {
        throw refused(ToolsError.UPSTREAM_PACKAGE, ServerSpec.FILE + ": writes " + folder + why);
      }
      requireNotTheState(folder, stateBytes);
      for (String other : writes.subList(0, i)) {
        if (overlap(folder, other)) {
          throw refused(
              ToolsError.UPSTREAM_PACKAGE,
              ServerSpec.FILE + ": writes " + other + ", and " + folder + " in it");
        }
      }
    }
  }

  private static void requireNotTheState(String path, OptionalLong stateBytes) {
    ServerSpec.require(
        stateBytes.isEmpty() || !overlap(path, ServerState.PLACE),
        path + " is where it sees its state, or has it");
  }

  /**
   * Requires that a path that it reads is not among these.
   *
   * @throws WritException {@code TOL-238}
   */
  void requireNotHere(String path) {
    for (String folder : writes) {
      ServerSpec.require(
          !overlap(path, folder),
          "what is at " + path + " is read-only, and at " + folder + " it is not");
    }
    requireNotTheState(path, stateBytes);
  }

  /** The same with a folder of its own. */
  public KeptPlaces withState(long bytes) {
    return new KeptPlaces(writes, OptionalLong.of(bytes));
  }

  /** Where it may write inside. */
  public List<String> places() {
    List<String> places = new ArrayList<>(writes);
    stateBytes.ifPresent(_ -> places.add(ServerState.PLACE));
    return places;
  }

  private static WritException refused(ToolsError code, String found) {
    return new WritException(code, found);
  }

  /** Why no server writes to a place, by its name alone; empty for one that it may write to. */
  private static String unfit(String folder) {
    if (!folder.startsWith("/") || folder.indexOf('\0') >= 0) {
      return " is no absolute path";
    }
    Path path = Path.of(folder);
    if (!path.normalize().toString().equals(folder)) {
      return " is no plain path";
    }
    List<String> system = new ArrayList<>(SYSTEM);
    system.addAll(Profile.named("default").system());
    for (String own : system) {
      if (overlap(folder, own)) {
        return " is part of the system, or has it: " + own;
      }
    }
    if (isHome(path)) {
      return " is a home directory as a whole: name a folder in it";
    }
    return "";
  }

  /** Where home directories are by custom; that of the user is known at {@link #of}. */
  private static boolean isHome(Path path) {
    List<Path> above = List.of(Path.of("/home"), Path.of("/Users"));
    return path.equals(Path.of("/root"))
        || above.contains(path)
        || above.contains(path.getParent());
  }

  /** Whether one of two plain paths is the other, or in it. */
  static boolean overlap(String one, String other) {
    return Path.of(one).startsWith(other) || Path.of(other).startsWith(one);
  }

  /**
   * The places that somebody typed, by their real paths.
   *
   * @param guarded places that no server may write to, nor to a folder that has one or is in one:
   *     Writ's own
   * @param homes home directories, which are not given as a whole
   * @throws WritException {@code TOL-305}
   */
  public static KeptPlaces of(List<String> typed, List<Path> guarded, List<Path> homes) {
    List<String> folders = new ArrayList<>();
    for (String each : typed) {
      Path path = Path.of(each).toAbsolutePath().normalize();
      String real = real(path);
      String why = unfit(real);
      for (Path home : homes) {
        if (why.isEmpty() && home.startsWith(real)) {
          why = " is a home directory as a whole, or has one: name a folder in it";
        }
      }
      for (Path own : guarded) {
        if (why.isEmpty() && overlap(real, realIfThere(own))) {
          why = " is Writ's own, or has it: " + own;
        }
      }
      if (why.isEmpty() && !real.equals(path.toString())) {
        why = " is behind a link: name it " + real;
      }
      for (String other : folders) {
        if (why.isEmpty() && overlap(real, other)) {
          why = " is " + other + ", in it, or has it";
        }
      }
      if (!why.isEmpty()) {
        throw refused(ToolsError.FOLDER_UNFIT, path + why);
      }
      folders.add(real);
    }
    return new KeptPlaces(folders, OptionalLong.empty());
  }

  private static String real(Path path) {
    if (!Files.exists(path)) {
      throw refused(ToolsError.FOLDER_UNFIT, path + " is not there");
    }
    if (!Files.isDirectory(path)) {
      throw refused(ToolsError.FOLDER_UNFIT, path + " is a file: name the folder that it is in");
    }
    try {
      return path.toRealPath().toString();
    } catch (IOException e) {
      throw new WritException(ToolsError.FOLDER_UNFIT, path + " cannot be looked at", e);
    }
  }

  private static String realIfThere(Path path) {
    try {
      return path.toRealPath().toString();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize().toString(); // it is not there yet
    }
  }

  /**
   * Requires that the folders are still there and no link leads elsewhere, whoever put it there
   * since.
   *
   * @throws WritException {@code TOL-305}
   */
  void requireThere() {
    for (String folder : writes) {
      String real = real(Path.of(folder));
      if (!real.equals(folder)) {
        throw refused(ToolsError.FOLDER_UNFIT, folder + " is " + real + " now, by a link");
      }
    }
  }

  static KeptPlaces read(Fields fields) {
    List<String> writes =
        fields.optional("writes", name -> fields.list(name, Fields::stringItem)).orElse(List.of());
    OptionalLong bytes =
        fields.has("state_bytes")
            ? OptionalLong.of(fields.count("state_bytes"))
            : OptionalLong.empty();
    return new KeptPlaces(writes, bytes);
  }

  /** Nothing is written of what there is not, so that packages without it have their digests. */
  void write(ObjectBuilder json) {
    if (!writes.isEmpty()) {
      json.putList("writes", writes, JsonValue::of);
    }
    stateBytes.ifPresent(bytes -> json.put("state_bytes", bytes));
  }
}

package dev.writ.cli;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writ's command line in another process, as a user who is not root and to whom nobody delegated a
 * cgroup. The class path is bound to where that user may read it, in a mount namespace of its own.
 */
final class UnprivilegedShell implements AutoCloseable {
  private static final String SCRIPT =
      """
      place=$1; user=$2; java=$3; list=$4; shift 4
      class_path=; n=0
      while read -r entry; do
        n=$((n + 1)); at=$place/$n
        if [ -d "$entry" ]; then mkdir "$at"; else at=$at.jar; : >"$at"; fi
        mount --bind "$entry" "$at" || exit 1
        class_path=$class_path:$at
      done <"$list"
      exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all \\
        "$java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \\
        -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "${class_path#:}" "$@"
      """;

  private final Process process;
  private final BufferedWriter in;
  private final BufferedReader out;

  /**
   * @param directory a new one, which every user may traverse
   */
  UnprivilegedShell(Path directory, long uid) throws IOException {
    Path place = Files.createDirectory(directory.resolve("class-path"));
    Path list = directory.resolve("class-path.txt");
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(":")) {
      if (Files.exists(Path.of(entry))) {
        entries.add(entry);
      }
    }
    Files.write(list, entries);
    // Whatever umask commands gave this JVM, the other user reads these.
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(list, PosixFilePermissions.fromString("rw-r--r--"));
    process =
        new ProcessBuilder(
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                "umask 022\n" + SCRIPT,
                "sh",
                place.toString(),
                Long.toString(uid),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                list.toString(),
                UnprivilegedShell.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    in = process.outputWriter(StandardCharsets.UTF_8);
    out = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Runs one command line there. */
  Run run(Map<String, String> environment, String... args) throws IOException {
    var variables = JsonValue.object();
    environment.forEach(variables::put);
    JsonValue.Obj call =
        JsonValue.object()
            .putList("args", List.of(args), JsonValue::of)
            .put("environment", variables.build())
            .build();
    in.write(new String(Jcs.write(call), StandardCharsets.UTF_8));
    in.newLine();
    in.flush();
    String line = out.readLine();
    if (line == null) {
      throw new IOException("the shell ended");
    }
    JsonValue.Obj answer = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
    return new Run(
        (int) ((JsonValue.Num) answer.get("status")).value(),
        text(answer.get("out")),
        text(answer.get("err")));
  }

  private static String text(JsonValue value) {
    return ((JsonValue.Str) value).value();
  }

  /** Its other end. */
  public static void main(String[] arguments) throws IOException {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonValue.Obj call = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
      var environment = new TreeMap<String, String>();
      ((JsonValue.Obj) call.get("environment"))
          .members()
          .forEach((name, value) -> environment.put(name, text(value)));
      String[] args =
          ((JsonValue.Arr) call.get("args"))
              .items().stream().map(UnprivilegedShell::text).toArray(String[]::new);
      Run run = Run.on("", "", environment, Commands.ALL, args);
      JsonValue.Obj answer =
          JsonValue.object()
              .put("status", run.status())
              .put("out", run.out())
              .put("err", run.err())
              .build();
      System.out.println(new String(Jcs.write(answer), StandardCharsets.UTF_8));
    }
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}

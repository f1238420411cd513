package dev.writ.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code writ} in a JVM of its own, with the classes of this one and without the launcher. */
public final class OwnProcess {
  /**
   * No optimizing compiler, which costs a server of a minute more than it gives back, but where the
   * tests have it themselves: {@code -Dtest.compiler=4}. The launcher takes it in {@code
   * WRIT_JAVA_OPTS}.
   */
  public static final String COMPILER =
      "-XX:TieredStopAtLevel=" + System.getProperty("test.compiler", "1");

  private OwnProcess() {}

  /** The command, to which more can be added. */
  public static List<String> writ(String... arguments) {
    List<String> command = java();
    command.addAll(PackedClasses.options());
    command.add(Main.class.getName());
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * The same from the class path as it stands: a JVM with a cache opens each jar at its start, for
   * which few descriptors do not suffice.
   */
  static List<String> writWithoutCache(String... arguments) {
    List<String> command = java();
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            Main.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  /** A JVM, without its class path. */
  static List<String> java() {
    return new ArrayList<>(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            COMPILER,
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-AOTRecordTraining",
            "-XX:-AOTReplayTraining"));
  }
}

package dev.writ.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code writ} in a JVM of its own, with the classes of this one and without the launcher. */
public final class OwnProcess {
  private OwnProcess() {}

  /** The command, to which more can be added. */
  public static List<String> writ(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }
}

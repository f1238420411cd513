package dev.writ.ledger;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A second JVM that runs one of our main classes. */
final class Child implements AutoCloseable {
  final Process process;
  final BufferedReader out;

  private Child(Process process) {
    this.process = process;
    this.out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** The command line of a child, for those that wrap it. */
  static List<String> command(List<String> jvmArgs, Class<?> main, String... args) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseSerialGC");
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(jvmArgs);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(List.of(args));
    return command;
  }

  static Child start(List<String> command) throws IOException {
    return new Child(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  /** All that it says until it ends. */
  List<String> linesToEnd() throws IOException, InterruptedException {
    List<String> lines = out.lines().toList();
    process.waitFor();
    return lines;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}

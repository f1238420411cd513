package dev.writ.tools.code;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What code can be written in. */
enum CodeLanguage {
  /** {@code -s -B}: neither packages of the user nor compiled files in the workspace. */
  PYTHON("python", "python3", "runner.py", List.of("-s", "-B", "-c")),
  NODE("node", "node", "runner.js", List.of("-e"));

  private final String text;
  private final String program;
  private final String runner;
  private final List<String> options;

  CodeLanguage(String text, String program, String runner, List<String> options) {
    this.text = text;
    this.program = program;
    this.runner = read(runner);
    this.options = options;
  }

  /** As params name it. */
  String text() {
    return text;
  }

  /** The program that is searched on the path. */
  String program() {
    return program;
  }

  /** The source of the runner, which runs the code. */
  String runner() {
    return runner;
  }

  /**
   * @param more options for the program
   * @param arguments for the runner
   */
  List<String> argv(List<String> more, List<String> arguments) {
    List<String> argv = new ArrayList<>();
    argv.add(program);
    argv.addAll(more);
    argv.addAll(options);
    argv.add(runner);
    argv.addAll(arguments);
    return argv;
  }

  private static String read(String name) {
    try (InputStream in = CodeLanguage.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.writ.cli.demo;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Report;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Text;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * An example and what the server answered.
 *
 * @param example that was run as it is printed
 * @param answers a line of its output each; long texts in them are cut
 */
public record PlayedExample(Example example, List<JsonValue> answers) implements Report {
  private static final int LONGEST_TEXT = 300;
  private static final int LARGEST_OUTPUT = 16 << 20;

  /** Runs the command and waits for its end; what it complains of is part of the answer. */
  public static PlayedExample of(Example example) {
    try {
      Process shell =
          new ProcessBuilder("sh", "-c", example.command()).redirectErrorStream(true).start();
      shell.getOutputStream().close();
      String said =
          new String(shell.getInputStream().readNBytes(LARGEST_OUTPUT), StandardCharsets.UTF_8);
      shell.waitFor();
      return new PlayedExample(
          example, said.lines().filter(line -> !line.isBlank()).map(PlayedExample::line).toList());
    } catch (IOException e) {
      return new PlayedExample(example, List.of(JsonValue.of(e.getMessage())));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new PlayedExample(example, List.of());
    }
  }

  private static JsonValue line(String line) {
    try {
      return cut(Jcs.parse(line.getBytes(StandardCharsets.UTF_8)));
    } catch (WritException e) {
      return cut(JsonValue.of(line)); // of a stream, or an error of the shell
    }
  }

  private static JsonValue cut(JsonValue value) {
    return switch (value) {
      case JsonValue.Str text when text.value().length() > LONGEST_TEXT ->
          JsonValue.of(
              text.value().substring(0, 60) + "… (" + text.value().length() + " characters)");
      case JsonValue.Obj object -> {
        TreeMap<String, JsonValue> members = new TreeMap<>();
        object.members().forEach((name, member) -> members.put(name, cut(member)));
        yield new JsonValue.Obj(members);
      }
      case JsonValue.Arr array ->
          new JsonValue.Arr(array.items().stream().map(PlayedExample::cut).toList());
      default -> value;
    };
  }

  /** For people: JSON indented, anything else as it is. */
  public List<String> lines() {
    return answers.stream()
        .flatMap(answer ->
            answer instanceof JsonValue.Str text
                ? Stream.of(Text.printable(text.value()))
                : PrettyJson.lines(answer).stream())
        .toList();
  }

  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .put("what", example.what())
        .put("command", example.command())
        .putList("answers", answers, answer -> answer)
        .build();
  }
}

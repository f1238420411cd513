package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.guardian.error.GuardianError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * golden-vectors/guardian is what {@link GuardianVectors} makes. {@code -Dwrit.update=true} writes
 * the files again; that each gives what it states, the conformance suite shows.
 */
class GuardianVectorsTest {
  private static final Path FOLDER =
      Path.of(System.getProperty("writ.root", "..")).resolve("golden-vectors/guardian");

  private record Outcome(JsonValue.Obj expect, Optional<String> found) {}

  private static Outcome outcome(GuardianVectors.Vector vector) {
    try {
      Fields input = Fields.of("input", vector.input());
      JsonValue.Obj output = Ours.OPERATIONS.get(vector.op()).apply(input);
      input.end();
      return new Outcome(output, Optional.empty());
    } catch (WritException e) {
      return new Outcome(
          JsonValue.object().put("code", e.code().code()).build(),
          Optional.of(e.found()).filter(_ -> vector.op().equals("guardian.policy")));
    }
  }

  private static byte[] bytes(GuardianVectors.Vector vector) {
    Outcome outcome = outcome(vector);
    return GuardianVectors.bytes(vector, outcome.expect(), outcome.found());
  }

  /**
   * Codes that no question about documents alone brings: an unseen request (executor/lapsed has
   * it), a judgement that was paused, a clock that was ahead, and the registration of a package.
   */
  private static final List<String> NOT_OF_A_DOCUMENT_ALONE =
      List.of("GRD-012", "GRD-013", "GRD-015", "GRD-422");

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(f -> f.toString().endsWith(".json")).sorted().toList();
    }
  }

  @BeforeAll
  static void update() throws IOException {
    if (!Boolean.getBoolean("writ.update")) {
      return;
    }
    Files.createDirectories(FOLDER);
    for (Path file : files()) {
      Files.delete(file);
    }
    for (GuardianVectors.Vector vector : GuardianVectors.all()) {
      Files.write(FOLDER.resolve(vector.name() + ".json"), bytes(vector));
    }
  }

  @Test
  void theGeneratorMakesTheSameFilesAndTheOutcomesThatItStates() throws IOException {
    TreeMap<String, String> made = new TreeMap<>();
    for (GuardianVectors.Vector vector : GuardianVectors.all()) {
      assertThat(summary(outcome(vector).expect())).as(vector.name()).isEqualTo(vector.expect());
      String before =
          made.put(vector.name() + ".json", new String(bytes(vector), StandardCharsets.UTF_8));
      assertThat(before).as("two vectors named " + vector.name()).isNull();
    }
    TreeMap<String, String> stored = new TreeMap<>();
    for (Path file : files()) {
      stored.put(file.getFileName().toString(), Files.readString(file));
    }
    assertThat(stored.keySet()).isEqualTo(made.keySet());
    stored.forEach((file, text) ->
        assertThat(text.equals(made.get(file))).as(file + " is as it is made").isTrue());
  }

  private static String summary(JsonValue.Obj outcome) {
    String verdict = outcome.get("verdict") instanceof JsonValue.Str v ? v.value() : "";
    String code = outcome.get("code") instanceof JsonValue.Str c ? c.value() : "";
    String both = (verdict + " " + code).strip();
    return both.isEmpty() ? "ok" : both;
  }

  @Test
  void everyCodeOfTheGuardianHasAVector() throws IOException {
    TreeSet<String> missing = new TreeSet<>();
    for (GuardianError error : GuardianError.values()) {
      missing.add(error.code());
    }
    missing.removeAll(NOT_OF_A_DOCUMENT_ALONE);
    for (Path file : files()) {
      JsonValue.Obj vector = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(file));
      if (((JsonValue.Obj) vector.get("expect")).get("code") instanceof JsonValue.Str code) {
        missing.remove(code.value());
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void noTwoErrorsShareACode() {
    assertThat(Stream.of(GuardianError.values()).map(GuardianError::code))
        .doesNotHaveDuplicates()
        .allMatch(code -> code.matches("GRD-[0-9]{3}"));
  }
}

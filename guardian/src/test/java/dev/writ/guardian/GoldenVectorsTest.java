package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every file of golden-vectors/guardian gives the outcome that it states. {@code
 * -Dwrit.update=true} writes the files again from {@link VectorFactory}.
 */
class GoldenVectorsTest {
  private static final Path FOLDER =
      Path.of(System.getProperty("writ.root", "..")).resolve("golden-vectors/guardian");

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(f -> f.toString().endsWith(".json")).sorted().toList();
    }
  }

  private static JsonValue.Obj read(Path file) throws IOException {
    return (JsonValue.Obj) Jcs.parse(Files.readAllBytes(file));
  }

  @TestFactory
  List<DynamicTest> everyVectorGivesItsOutcome() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (Path file : files()) {
      tests.add(
          DynamicTest.dynamicTest(
              file.getFileName().toString(),
              () -> {
                JsonValue.Obj vector = read(file);
                assertThat(vector.members().keySet())
                    .containsExactly("input", "name", "outcome", "reason");
                assertThat(VectorRunner.run((JsonValue.Obj) vector.get("input")))
                    .isEqualTo(vector.get("outcome"));
              }));
    }
    assertThat(tests).isNotEmpty();
    return tests;
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
    for (VectorFactory.Vector vector : VectorFactory.all()) {
      Files.write(
          FOLDER.resolve(vector.name() + ".json"),
          VectorFactory.bytes(vector, VectorRunner.run(vector.input())));
    }
  }

  @Test
  void theGeneratorMakesTheSameFilesAndTheOutcomesThatItStates() throws IOException {
    TreeMap<String, String> made = new TreeMap<>();
    for (VectorFactory.Vector vector : VectorFactory.all()) {
      JsonValue.Obj outcome = VectorRunner.run(vector.input());
      assertThat(summary(outcome)).as(vector.name()).isEqualTo(vector.expect());
      String before =
          made.put(
              vector.name() + ".json",
              new String(VectorFactory.bytes(vector, outcome), StandardCharsets.UTF_8));
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
  void everyCodeOfThisModuleHasAVector() throws IOException {
    TreeSet<String> seen = new TreeSet<>();
    for (Path file : files()) {
      if (((JsonValue.Obj) read(file).get("outcome")).get("code") instanceof JsonValue.Str code) {
        seen.add(code.value());
      }
    }
    TreeSet<String> missing = new TreeSet<>();
    for (GuardianError error : GuardianError.values()) {
      if (!seen.contains(error.code())) {
        missing.add(error.code());
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

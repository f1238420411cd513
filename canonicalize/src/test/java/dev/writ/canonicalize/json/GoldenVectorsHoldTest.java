package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every file under golden-vectors/canonicalize says what one text becomes, or why it is refused.
 */
class GoldenVectorsHoldTest {
  private static final Path VECTORS = Path.of("..", "golden-vectors", "canonicalize");

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(f -> f.toString().endsWith(".json")).sorted().toList();
    }
  }

  @TestFactory
  Stream<DynamicTest> everyVectorHolds() throws IOException {
    List<Path> files = files(VECTORS);
    assertThat(files).as("vectors in %s", VECTORS).hasSizeGreaterThanOrEqualTo(120);
    return files.stream()
        .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> holds(file)));
  }

  private static void holds(Path file) throws IOException {
    Fields vector = Fields.of("vector", Jcs.parse(Files.readAllBytes(file)));
    vector.string("about");
    assertThat(vector.string("op")).isEqualTo("canonicalize");
    Fields input = vector.fields("input");
    byte[] json = Base64.getDecoder().decode(input.string("json_b64"));
    input.end();
    Fields expect = vector.fields("expect");
    if (expect.has("code")) {
      refused(json, expect.string("code"));
    } else {
      byte[] canonical = Base64.getDecoder().decode(expect.string("canonical_b64"));
      accepted(json, canonical, expect.digest("digest"));
    }
    expect.end();
    vector.end();
  }

  private static void accepted(byte[] json, byte[] canonical, Digest digest) {
    assertThat(text(Jcs.canonicalize(json))).isEqualTo(text(canonical));
    JsonValue value = Jcs.parse(json);
    assertThat(text(Jcs.write(value))).isEqualTo(text(canonical));
    assertThat(Jcs.digest(value)).isEqualTo(digest);
    assertThat(Jcs.parseCanonical(canonical, Limits.DEFAULT)).isEqualTo(value);
    if (!Arrays.equals(json, canonical)) {
      assertThat(codeOf(() -> Jcs.parseCanonical(json, Limits.DEFAULT))).isEqualTo("CAN-012");
    }
    SecondOpinion.check(json);
  }

  private static void refused(byte[] json, String code) {
    assertThat(codeOf(() -> Jcs.canonicalize(json))).isEqualTo(code);
    assertThat(codeOf(() -> Jcs.parse(json))).isEqualTo(code);
    assertThat(codeOf(() -> Jcs.parseCanonical(json, Limits.DEFAULT))).isEqualTo(code);
    assertThat(codeOf(() -> SecondOpinion.check(json))).isEqualTo(code);
  }

  private static String codeOf(Runnable reading) {
    WritException refusal = catchThrowableOfType(WritException.class, reading::run);
    assertThat(refusal).as("refusal").isNotNull();
    return refusal.code().code();
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }

  @Test
  void theGeneratorWritesExactlyTheseVectors(@TempDir Path fresh) throws Exception {
    NodeJs.run(VECTORS.resolve("generate.mjs").toString(), fresh.toString());
    TreeSet<String> names = new TreeSet<>();
    for (Path file : files(fresh)) {
      String name = file.getFileName().toString();
      names.add(name);
      assertThat(VECTORS.resolve(name)).hasSameBinaryContentAs(file);
    }
    assertThat(names)
        .containsExactlyElementsOf(
            files(VECTORS).stream().map(f -> f.getFileName().toString()).toList());
  }
}

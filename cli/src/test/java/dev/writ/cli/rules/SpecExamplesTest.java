package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpecExamplesTest {

  @TestFactory
  List<DynamicTest> everyExampleInSpecIsWhatItSays() {
    List<DynamicTest> tests = new ArrayList<>();
    for (Path page : Project.files(Project.root().resolve("spec"), ".md")) {
      for (SpecExamples.Block block : SpecExamples.blocks(Project.read(page))) {
        String name = page.getFileName() + ":" + block.line() + " " + block.info();
        tests.add(DynamicTest.dynamicTest(name, () -> SpecExamples.verify(block)));
      }
    }
    assertThat(tests).as("examples in spec/").isNotEmpty();
    return tests;
  }

  @Test
  void theKindsAreTheDocumentsOfAllModules() {
    assertThat(SpecExamples.KINDS).containsKeys("request", "decision", "intent", "receipt");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "             | {\"b\": 1.0, \"a\": 2}",
        "canonical    | {\"a\" :\t[1, 2], \"b\": \"a \\\" \\\\ b\"}",
        "canonical    | \"two  spaces\"",
        "refused CAN-004 | {\"a\":1,\"a\":2}",
      })
  void aGoodBlockPasses(String info, String text) {
    assertThatCode(() -> SpecExamples.verify(block(info, text))).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "             | {\"a\":1,}            | CAN-003",
        "canonical    | {\"b\": 1, \"a\": 2}  | CAN-012",
        "canonical    | {\"a\": 1.0}          | CAN-012",
        "writ:nothing | {}                    | no class reads",
        "writ:envelope| {}                    | CAN-020",
        "refused CAN-004 | {\"a\":1}          | not refused",
        "refused CAN-004 | {\"a\":01}         | another code",
        "canonicl     | {}                    | unknown info string",
      })
  void aBadBlockFails(String info, String text, String because) {
    assertThatThrownBy(() -> SpecExamples.verify(block(info, text)))
        .isInstanceOfAny(AssertionError.class, RuntimeException.class)
        .hasMessageContaining(because);
  }

  @Test
  void blocksAreFoundWithTheirLinesAndOtherFencesAreLeft() {
    String page = "# T\n\n```json\n1\n```\n```sh\n```\n```json canonical\n{\n}\n```\n";
    assertThat(SpecExamples.blocks(page))
        .containsExactly(
            new SpecExamples.Block(3, "", "1"), new SpecExamples.Block(8, "canonical", "{\n}"));
    assertThatThrownBy(() -> SpecExamples.blocks("```json\n1\n"))
        .hasMessageContaining("never closed");
  }

  private static SpecExamples.Block block(String info, String text) {
    return new SpecExamples.Block(1, info == null ? "" : info, text);
  }
}

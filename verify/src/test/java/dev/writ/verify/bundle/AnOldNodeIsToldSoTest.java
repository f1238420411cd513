package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.verify.testing.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The second verifier under a Node that lacks what it needs: one line, and no stack trace. */
class AnOldNodeIsToldSoTest {
  /** Node 14 does not parse them, and would say where in place of what is needed. */
  @Test
  void noStatementIsNewerThanNode14() throws IOException {
    String code =
        Files.readString(Node.VERIFIER)
            .lines()
            .map(line -> line.replaceFirst(" // .*", ""))
            .collect(Collectors.joining("\n"));
    assertThat(code).doesNotContain("??=", "||=", "&&=", "static {");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.4'}})",
        "delete String.prototype.isWellFormed",
        "delete Array.prototype.toSorted"
      })
  void whichVersionItNeeds(String older) {
    Node.Result result =
        Node.run(
            List.of(
                "--import", "data:text/javascript," + older, Node.VERIFIER.toString(), "x.writ"));
    assertThat(result.exit()).isEqualTo(6);
    assertThat(result.out().lines())
        .singleElement()
        .asString()
        .startsWith("verify.mjs needs Node 20 or later; this is ");
  }
}

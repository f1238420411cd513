package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Workload;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The word by which policies switch tools of a kind on and off is bound by the package digest. */
class ACategoryIsPartOfThePackageTest {
  private static ToolManifest manifest(String more) {
    String source =
        """
        format: 1
        tool: echo
        version: 1.0.0
        language: python
        runtime: "3"
        entry: src/tool.py
        operations:
          echo: { input: { type: object }, output: { type: object } }
        capabilities: { filesystem: none, network: [], artifacts: [], spawn: false }
        resource_class: medium
        determinism: recorded
        """;
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put(ToolSource.FILE, (source + more).getBytes(StandardCharsets.UTF_8));
    files.put(ToolLock.FILE, "format: 1\ndependencies: []\n".getBytes(StandardCharsets.UTF_8));
    return ToolProject.of(files).manifest();
  }

  @Test
  void itIsInTheManifestWhereItIsWritten() {
    assertThat(manifest("").category()).isEmpty();
    assertThat(manifest("").toJson().members()).doesNotContainKey("category");
    assertThat(manifest("category: text\n").category()).contains("text");
    assertThat(manifest("category: text\n").toJson().members()).containsKey("category");
  }

  @Test
  void theWorkloadIsAsStatedOrElseByTheNetwork() {
    assertThat(manifest("").toJson().members()).doesNotContainKey("workload");
    assertThat(Workload.of(manifest(""))).isEqualTo(Workload.CPU);
    ToolManifest stated = manifest("workload: io\n");
    assertThat(Workload.of(stated)).isEqualTo(Workload.IO);
    assertThat(ToolManifest.read(stated.toJson())).isEqualTo(stated);
    assertThatThrownBy(() -> manifest("workload: disk\n"))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("TOL-201");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Text", "-x", "two words", "\"\"", "1", "[text]", "ä"})
  void itIsAWord(String category) {
    assertThatThrownBy(() -> manifest("category: " + category + "\n"))
        .hasMessageContaining("TOL-201")
        .hasMessageContaining("category");
  }

  @Test
  void aPackageIsMadeWithTheReleasesNumbersOfItsClass() {
    assertThat(manifest("").resourcesMax()).isEqualTo(ResourceClasses.DEFAULT.medium().resources());
  }
}

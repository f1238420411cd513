package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No tool, operation, file or host has a name that {@code tool.manifest} does not show. */
class NamesInManifestsAreSeenTest {
  private static final String SOURCE =
      """
      format: 1
      tool: echo
      version: 1.0.0
      language: python
      runtime: "3"
      entry: src/tool.py
      operations:
        "repeat": { input: { type: object }, output: { type: object } }
      capabilities: { filesystem: none, network: ["api.example.org:443"], artifacts: [], spawn: false }
      resource_class: medium
      determinism: recorded
      """;

  @ParameterizedTest
  @CsvSource({
    "tool: echo, tool: \"echo\\u202e\", a name",
    "version: 1.0.0, version: \"1.0.0\\u200b\", a name",
    "entry: src/tool.py, entry: \"src/\\u2066tool.py\", a name",
    "\"repeat\":, \"repeat\\u00ad\":, a key",
    "\"api.example.org:443\", \"api.\\u202eexample.org:443\", a name",
    "[\"api.example.org:443\"], [api.example.org:443 b.example.org:443], is no host:port",
    "[\"api.example.org:443\"], [api.example.org:443/b], is no host:port",
    "determinism: recorded, determinism: recorded # \u202e, turns the direction",
  })
  void refused(String from, String to, String found) {
    String text = SOURCE.replace(from, to);
    assertThatThrownBy(() -> ToolSource.parse(text.getBytes(StandardCharsets.UTF_8)))
        .hasMessageContaining("TOL-201")
        .hasMessageContaining(found);
  }
}

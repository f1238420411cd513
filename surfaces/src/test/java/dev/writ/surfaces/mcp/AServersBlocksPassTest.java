package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import io.modelcontextprotocol.json.McpJsonDefaults;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each kind of content that a server's result can have reaches the client as it was. */
class AServersBlocksPassTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"text\":\"5\",\"type\":\"text\"}",
        "{\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5},\"text\":\"5\",\"type\":\"text\"}",
        "{\"data\":\"AAAA\",\"mimeType\":\"image/png\",\"type\":\"image\"}",
        "{\"data\":\"AAAA\",\"mimeType\":\"audio/wav\",\"type\":\"audio\"}",
        "{\"resource\":{\"mimeType\":\"text/plain\",\"text\":\"t\",\"uri\":\"file:///a\"},\"type\":\"resource\"}",
        "{\"resource\":{\"blob\":\"AAAA\",\"uri\":\"file:///a\"},\"type\":\"resource\"}",
        "{\"description\":\"d\",\"name\":\"n\",\"size\":7,\"title\":\"t\",\"type\":\"resource_link\",\"uri\":\"file:///a\"}",
      })
  void itIsTheSame(String block) throws IOException {
    JsonValue.Obj result = object("{\"content\":[" + block + "]}");
    String written =
        McpJsonDefaults.getMapper()
            .writeValueAsString(Results.blocks(result).orElseThrow().getFirst());
    assertThat(object(written)).isEqualTo(object(block));
  }

  private static JsonValue.Obj object(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }
}

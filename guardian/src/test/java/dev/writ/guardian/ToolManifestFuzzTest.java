package dev.writ.guardian;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any manifest whatever: it writes and reads back as itself, or is refused; and its schemas, where
 * they are acceptable, judge any params without another exception than a refusal.
 */
class ToolManifestFuzzTest {
  private static final JsonValue PARAMS =
      World.json("{\"a\":[1,1.5,true,null,\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"],\"source\":\"1\"}");

  static Stream<byte[]> seeds() {
    ToolManifest rich =
        World.manifest(
            "{\"$defs\":{\"a\":{\"type\":\"array\",\"items\":{\"pattern\":\"^(a+)+$\"}}},"
                + "\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"patternProperties\":{\"^s\":"
                + "{\"enum\":[\"1\",1]}},\"if\":{\"required\":[\"a\"]},\"then\":{\"minProperties\":2},"
                + "\"not\":{\"const\":{}}}");
    return Stream.of(World.manifest(), rich).map(m -> Jcs.write(m.toJson()));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAndItsSchemasJudge(byte[] bytes) {
    ToolManifest manifest;
    try {
      manifest = ToolManifest.read(Jcs.parse(bytes));
    } catch (WritException refused) {
      return;
    }
    ToolManifest again = ToolManifest.read(Jcs.parse(Jcs.write(manifest.toJson())));
    if (!again.equals(manifest) || !again.toJson().equals(manifest.toJson())) {
      throw new AssertionError("a manifest that changes when it is written");
    }
    try {
      ToolSchemas schemas = ToolSchemas.of(manifest);
      for (ToolManifest.Operation operation : manifest.operations()) {
        schemas.requireInput(operation.name(), PARAMS);
      }
    } catch (WritException refused) {
      return;
    }
  }
}

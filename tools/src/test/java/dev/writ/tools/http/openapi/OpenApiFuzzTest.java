package dev.writ.tools.http.openapi;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.ToolSchemas;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.openapi.OpenApiImport.Imported;
import dev.writ.tools.http.openapi.OpenApiImport.Wanted;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a document holds, it is refused with a code, or becomes a tool that passes lint. */
class OpenApiFuzzTest {
  static Stream<byte[]> seeds() throws IOException {
    String petstore = Files.readString(Path.of("../examples/openapi/petstore.yaml"));
    return Stream.of(
            petstore,
            petstore.replace("openapi: 3.0.3", "openapi: 3.1.0"),
            "{\"openapi\":\"3.0.0\",\"servers\":[{\"url\":\"https://x.example\"}],\"paths\":{\"/{a}\":"
                + "{\"get\":{\"operationId\":\"a\",\"parameters\":[{\"in\":\"path\",\"name\":\"a\"}]}}}}")
        .map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsImportedIsATool(byte[] bytes) {
    Imported imported;
    try {
      imported =
          OpenApiImport.of(bytes, "f", new Wanted(Optional.of("t"), List.of(), Optional.empty()));
    } catch (WritException refused) {
      if (!(refused.code() instanceof ToolsError)) {
        throw new AssertionError("a refusal of another kind", refused);
      }
      return;
    }
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put("tool.manifest", imported.manifest());
    files.put("tool.lock", "format: 1\ndependencies: []\n".getBytes(StandardCharsets.UTF_8));
    try {
      ToolSchemas.requireWellFormed(ToolProject.of(files).manifest());
    } catch (WritException refused) {
      // Credentials over plain HTTP are the document's own fault; the command refuses it, too.
      if (!refused.found().contains("https alone")) {
        throw new AssertionError("a tool that is none", refused);
      }
    }
  }
}

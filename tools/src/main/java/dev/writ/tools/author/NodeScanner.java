package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.tools.wasm.SandboxProfile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** JavaScript, parsed by acorn in the {@code js} tool, so that the parser need not be trusted. */
public final class NodeScanner implements Scanner {
  private static final String ACORN = "/META-INF/resources/webjars/acorn/8.15.0/dist/acorn.js";
  private static final Resources CEILING = new Resources(60_000, 512L << 20, 16L << 20, 120_000);

  private final Driver js;

  /**
   * @param js the driver of that name
   */
  public NodeScanner(Driver js) {
    this.js = js;
  }

  @Override
  public List<Reference> scan(SortedMap<String, byte[]> files) {
    ToolManifest manifest = BuiltinTools.manifest("js", "1.0.0").orElseThrow();
    JsonValue.Obj params =
        JsonValue.object()
            .put("source", resource(ACORN) + "\n" + resource("scan.js"))
            .put("input", ScanAnswer.question(files))
            .build();
    DriverOutcome outcome =
        js.prepare(manifest, "eval", BuiltinTools.content(manifest))
            .run(
                new Invocation(
                    new Scope("writ", "lint", "lint"),
                    params,
                    List.of(),
                    input -> InputStream.nullInputStream(),
                    new byte[32],
                    Instant.EPOCH,
                    CEILING,
                    SandboxProfile.NAME,
                    Optional.empty(),
                    false));
    if (outcome.end() != DriverOutcome.End.SUCCEEDED) {
      throw new WritException(
          ToolsError.SOURCE_UNREADABLE, outcome.reason() + " " + outcome.message());
    }
    return ScanAnswer.read(outcome.output().orElseThrow().bytes());
  }

  private static String resource(String path) {
    try (InputStream in = NodeScanner.class.getResourceAsStream(path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

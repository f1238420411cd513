package dev.writ.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.tools.wasm.GuestPool;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Tools for tests, prepared on one shared set of drivers. */
public final class TestTools {
  /** Two guests at once on any machine, so that tests of the pool mean the same everywhere. */
  public static final Drivers DRIVERS = Drivers.wasmFamily(new GuestPool(4, 2L << 30));

  private TestTools() {}

  public static Driver driver(String name) {
    return DRIVERS.byName().get(name);
  }

  public static Call builtin(String name, String operation) {
    ToolManifest manifest = BuiltinTools.manifest(name, "1.0.0").orElseThrow();
    return new Call(
        driver(manifest.driver()).prepare(manifest, operation, BuiltinTools.content(manifest)));
  }

  public static Call js(String source) {
    return builtin("js", "eval").params(JsonValue.object().put("source", source).build());
  }

  public static Call sql(String sql, JsonValue... args) {
    return builtin("sql", "query")
        .params(
            JsonValue.object().put("sql", sql).put("args", JsonValue.of(List.of(args))).build());
  }

  /** An operation of {@code guest.wat}. */
  public static Call guest(String operation) {
    return module("wasm", resource("wasm/guest.wasm"), operation);
  }

  public static Call metered(String operation) {
    return module("wasm-metered", resource("wasm/guest.wasm"), operation);
  }

  public static Call module(String driver, byte[] module, String operation) {
    return new Call(
        driver(driver).prepare(manifest(driver, module, operation), operation, file -> module));
  }

  public static ToolManifest manifest(String driver, byte[] module, String... operations) {
    JsonValue.Obj any = JsonValue.object().build();
    return new ToolManifest(
        "guest",
        "1.0.0",
        driver,
        Determinism.PURE,
        Stream.of(operations)
            .sorted()
            .map(name ->
                new ToolManifest.Operation(name, any, Optional.empty(), "application/octet-stream"))
            .toList(),
        ToolManifest.Capabilities.none(),
        new Resources(60_000, 1L << 30, 1 << 24, 60_000),
        List.of("wasm"),
        List.of(new ToolManifest.PackageFile("m.wasm", Digest.sha256(module), module.length)));
  }

  public static byte[] resource(String path) {
    try (InputStream in = TestTools.class.getResourceAsStream(path)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

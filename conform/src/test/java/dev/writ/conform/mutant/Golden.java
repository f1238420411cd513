package dev.writ.conform.mutant;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The golden vectors of this checkout. */
public final class Golden {
  public static final Path ROOT =
      Path.of(System.getProperty("writ.root", "..")).resolve("golden-vectors");

  private Golden() {}

  /** The bundle of one vector. */
  public static byte[] bundle(String name) {
    return StrictBase64.decode(
        "bundle_b64", ((JsonValue.Str) input(name).get("bundle_b64")).value());
  }

  /** The input of one vector. */
  static JsonValue.Obj input(String name) {
    try {
      JsonValue vector = Jcs.parse(Files.readAllBytes(ROOT.resolve(name + ".json")));
      return (JsonValue.Obj) ((JsonValue.Obj) vector).get("input");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

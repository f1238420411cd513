package writ;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

/** What the platform gives to tools in Java (spec/tool-package.md, Helpers). */
public final class Helpers {
  public static final int VERSION = 1;

  private Helpers() {}

  /** The text of one of the tool's secrets. */
  public static String secret(Map<String, Object> context, String name) throws IOException {
    if (context.get("secrets") instanceof Map<?, ?> paths
        && paths.get(name) instanceof String path) {
      return Files.readString(Path.of(path));
    }
    throw new NoSuchElementException("the tool declares no secret " + name);
  }

  /** The path at which to write an artifact of this name. */
  public static Path artifact(Map<String, Object> context, String name) {
    if (!(context.get("artifacts") instanceof String folder)) {
      throw new NoSuchElementException("the tool declares no artifacts");
    }
    if (!name.matches("[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")) {
      throw new IllegalArgumentException("no plain name of a file");
    }
    return Path.of(folder, name);
  }

  /** The path of the input file of this name. */
  public static Path input(Map<String, Object> context, String name) {
    for (Object path : (List<?>) context.get("inputs")) {
      if (Path.of((String) path).getFileName().toString().equals(name)) {
        return Path.of((String) path);
      }
    }
    throw new NoSuchElementException("the call has no input " + name);
  }
}

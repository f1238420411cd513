package dev.writ.conform.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.conform.ConformError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The golden vectors of a folder, which are exactly those that its index lists, byte for byte.
 *
 * @param digest digest of the index, which identifies the vectors: two runs with the same digest
 *     ran the same vectors
 */
public record Vectors(Digest digest, List<Vector> all) {
  private static final String INDEX = "index.json";
  private static final long FORMAT = 1;

  /** Extensions of files beside the vectors that are no vectors: documentation and generators. */
  private static final List<String> BESIDE = List.of(".md", ".mjs", ".py", ".yaml");

  public Vectors {
    all = List.copyOf(all);
  }

  /**
   * @throws WritException {@code CNF-001} to {@code CNF-005}
   */
  public static Vectors load(Path root) {
    SortedMap<String, Digest> index = readIndex(root);
    SortedMap<String, byte[]> files = files(root);
    for (String name : files.keySet()) {
      Digest listed = index.get(name);
      if (listed == null) {
        throw new WritException(ConformError.VECTOR_UNLISTED, name);
      }
      Digest found = Digest.sha256(files.get(name));
      if (!found.equals(listed)) {
        throw new WritException(
            ConformError.VECTOR_CHANGED, name + " is " + found + ", listed as " + listed);
      }
    }
    List<Vector> vectors = new ArrayList<>();
    for (String name : index.keySet()) {
      if (!files.containsKey(name)) {
        throw new WritException(ConformError.VECTOR_CHANGED, name + " is not there");
      }
      if (name.endsWith(".json")) {
        String folder = name.substring(0, name.indexOf('/') + 1);
        vectors.add(
            Vector.read(
                name.substring(0, name.length() - ".json".length()),
                files.get(name),
                file -> beside(files, name, folder + file)));
      }
    }
    return new Vectors(digestOf(index), vectors);
  }

  private static byte[] beside(SortedMap<String, byte[]> files, String name, String file) {
    byte[] content = files.get(file);
    if (content == null) {
      throw new WritException(ConformError.VECTOR_MALFORMED, name + " names " + file);
    }
    return content;
  }

  private static SortedMap<String, Digest> readIndex(Path root) {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(root.resolve(INDEX));
    } catch (IOException e) {
      throw new WritException(ConformError.VECTORS_MISSING, root.resolve(INDEX).toString(), e);
    }
    try {
      int end = bytes.length > 0 && bytes[bytes.length - 1] == '\n' ? bytes.length - 1 : 0;
      Fields fields =
          Fields.of(INDEX, Jcs.parseCanonical(Arrays.copyOf(bytes, end), Limits.DEFAULT));
      if (fields.integer("format") != FORMAT) {
        throw new WritException(ConformError.INDEX_MALFORMED, "another format than " + FORMAT);
      }
      TreeMap<String, Digest> index = new TreeMap<>();
      Fields files = fields.fields("files");
      for (String name : fields.obj("files").members().keySet()) {
        index.put(name, files.digest(name));
      }
      if (!fields.value("profiles").equals(profiles())) {
        throw new WritException(
            ConformError.INDEX_MALFORMED, "other profiles than this release has");
      }
      fields.end();
      return index;
    } catch (WritException e) {
      if (e.code() instanceof ConformError) {
        throw e;
      }
      throw new WritException(ConformError.INDEX_MALFORMED, e.code().code() + " " + e.found(), e);
    }
  }

  private static JsonValue.Obj profiles() {
    var profiles = JsonValue.object();
    for (ConformanceProfile profile : ConformanceProfile.ALL) {
      profiles.putList(profile.name(), profile.own(), JsonValue::of);
    }
    return profiles.build();
  }

  private static JsonValue.Obj json(SortedMap<String, Digest> index) {
    var files = JsonValue.object();
    index.forEach(files::put);
    return JsonValue.object()
        .put("files", files.build())
        .put("format", FORMAT)
        .put("profiles", profiles())
        .build();
  }

  private static Digest digestOf(SortedMap<String, Digest> index) {
    return Jcs.digest(json(index));
  }

  /** Builds the index of the vectors that are there. */
  public static byte[] index(Path root) {
    TreeMap<String, Digest> index = new TreeMap<>();
    files(root).forEach((name, content) -> index.put(name, Digest.sha256(content)));
    byte[] json = Jcs.write(json(index));
    byte[] line = Arrays.copyOf(json, json.length + 1);
    line[json.length] = '\n';
    return line;
  }

  /**
   * Writes the index again; vectors change in no other way.
   *
   * @return its file
   */
  public static Path writeIndex(Path root) {
    try {
      return Files.write(root.resolve(INDEX), index(root));
    } catch (IOException e) {
      throw new WritException(ConformError.VECTORS_MISSING, root.toString(), e);
    }
  }

  /** Every file of every suite by its path, without documentation and generators. */
  private static SortedMap<String, byte[]> files(Path root) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    for (ConformanceProfile profile : ConformanceProfile.ALL) {
      for (String suite : profile.own()) {
        Path folder = root.resolve(suite);
        if (Files.isDirectory(folder)) {
          read(folder, suite + "/", files);
        }
      }
    }
    return Collections.unmodifiableSortedMap(files);
  }

  private static void read(Path folder, String prefix, TreeMap<String, byte[]> into) {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (BESIDE.stream().noneMatch(name::endsWith)) {
          into.put(prefix + name, Files.readAllBytes(file));
        }
      }
    } catch (IOException e) {
      throw new WritException(ConformError.VECTORS_MISSING, folder.toString(), e);
    }
  }
}

package dev.writ.conform.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.ConformError;
import dev.writ.conform.run.ConformanceReport.Verdict;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The conformance statement: an in-toto Statement v1 with the test-result predicate v0.1 in a DSSE
 * envelope (spec/conformance.md). It says which vectors, which implementation, and the result.
 */
public final class Statement {
  public static final String PAYLOAD_TYPE = "application/vnd.in-toto+json";
  private static final String TYPE = "https://in-toto.io/Statement/v1";
  private static final String PREDICATE = "https://in-toto.io/attestation/test-result/v0.1";

  private Statement() {}

  /**
   * @param subject digest of what was tested
   */
  public static JsonValue.Obj of(ConformanceReport report, Digest subject) {
    return JsonValue.object()
        .put("_type", TYPE)
        .put("predicateType", PREDICATE)
        .putList("subject", List.of(subject), d -> resource(report.implementation(), d))
        .put(
            "predicate",
            JsonValue.object()
                .put("result", result(report))
                .putList(
                    "configuration",
                    List.of(report),
                    r -> resource("golden-vectors/index.json, " + r.selection(), r.vectors()))
                .putList("passedTests", names(report, Verdict.PASSED), JsonValue::of)
                .putList("warnedTests", names(report, Verdict.UNSUPPORTED), JsonValue::of)
                .putList("failedTests", names(report, Verdict.FAILED), JsonValue::of)
                .build())
        .build();
  }

  /** An unsupported operation is a warning in in-toto's terms, not a pass. */
  private static String result(ConformanceReport report) {
    return report.conforms() ? "PASSED" : report.count(Verdict.FAILED) > 0 ? "FAILED" : "WARNED";
  }

  private static List<String> names(ConformanceReport report, Verdict verdict) {
    return report.results().stream()
        .filter(r -> r.verdict() == verdict)
        .map(r -> r.vector().name())
        .toList();
  }

  private static JsonValue resource(String name, Digest digest) {
    return JsonValue.object()
        .put("name", name)
        .put("digest", JsonValue.object().put("sha256", digest.hex()).build())
        .build();
  }

  public static Envelope sign(ConformanceReport report, Digest subject, SigningKey key) {
    return Envelope.sign(PAYLOAD_TYPE, of(report, subject), key);
  }

  /** The digest of an implementation's file. */
  public static Digest subject(Path file) {
    return hash(file);
  }

  /**
   * The file that a command names: the first of its words that is one.
   *
   * @throws WritException {@code CNF-011} where none is
   */
  public static Digest subjectOf(String command) {
    return AdapterCommand.split(command).stream()
        .map(Path::of)
        .filter(Files::isRegularFile)
        .findFirst()
        .map(Statement::hash)
        .orElseThrow(
            () -> new WritException(ConformError.SUBJECT, "no word of it is a file: " + command));
  }

  /**
   * This program: the digests of the parts of its class path, in its order, without their folders.
   */
  public static Digest subjectOfThisProgram() {
    List<JsonValue> parts = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path path = Path.of(entry);
      parts.add(
          JsonValue.object()
              .put("digest", Files.isDirectory(path) ? hashFolder(path) : hash(path))
              .build());
    }
    return Jcs.digest(JsonValue.of(parts));
  }

  private static Digest hashFolder(Path folder) {
    TreeMap<String, JsonValue> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(folder.relativize(file).toString(), JsonValue.of(hash(file).toString()));
      }
    } catch (IOException e) {
      throw unreadable(folder, e);
    }
    return Jcs.digest(new JsonValue.Obj(files));
  }

  private static Digest hash(Path file) {
    MessageDigest hash = Digest.newSha256();
    byte[] buffer = new byte[1 << 16];
    try (InputStream in = Files.newInputStream(file)) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        hash.update(buffer, 0, n);
      }
    } catch (IOException e) {
      throw unreadable(file, e);
    }
    return Digest.ofBytes(hash.digest());
  }

  private static WritException unreadable(Path file, IOException e) {
    return new WritException(ConformError.SUBJECT, file + " cannot be read", e);
  }
}

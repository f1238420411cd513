package dev.writ.tools.author;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Runs an author's tests through the driver that the platform uses: the same sandbox, the same
 * ceilings, the same schemas. A test is {@code test/NAME.json} with {@code operation}, {@code
 * input}, optional {@code inputs} (files as text, or as {@code base64}), and {@code output} (of
 * another media type than JSON: as text, or as {@code base64}), with the names of {@code artifacts}
 * if it produces some; or, for an expected failure, the {@code reason} and a part of the {@code
 * message}.
 */
public final class ToolTests {
  private static final Instant TIME = Instant.parse("2026-01-01T00:00:00Z");

  /**
   * The result of one test.
   *
   * @param found what was found instead; empty if it passed
   */
  public record Verdict(String test, Optional<String> found, long wallMs) {
    public JsonValue toJson() {
      return JsonValue.object()
          .put("test", test)
          .put("passed", found.isEmpty())
          .putIfPresent("found", found, JsonValue::of)
          .put("wall_ms", wallMs)
          .build();
    }
  }

  private record Case(
      String operation,
      JsonValue.Obj input,
      SortedMap<String, byte[]> inputs,
      Optional<JsonValue> output,
      List<String> artifacts,
      Optional<String> reason,
      Optional<String> message) {

    static Case read(String path, byte[] bytes) {
      Fields fields = Fields.of(path, parsed(path, bytes));
      TreeMap<String, byte[]> inputs = new TreeMap<>();
      fields
          .optional("inputs", fields::obj)
          .ifPresent(files ->
              files
                  .members()
                  .forEach(
                      (name, file) -> inputs.put(name, content(path + "/inputs/" + name, file))));
      Case test =
          new Case(
              fields.name("operation"),
              fields.obj("input"),
              inputs,
              fields.optional("output", fields::value),
              fields.has("artifacts") ? fields.list("artifacts", Fields::stringItem) : List.of(),
              fields.optional("reason", fields::name),
              fields.optional("message", fields::name));
      fields.end();
      if (test.output.isPresent() == test.reason.isPresent()) {
        throw new WritException(
            ToolsError.SOURCE_INVALID, path + " needs output, or the reason of a failure");
      }
      return test;
    }

    private static JsonValue parsed(String path, byte[] bytes) {
      try {
        return Jcs.parse(bytes);
      } catch (WritException e) {
        throw new WritException(e.code(), path + " " + e.found(), e);
      }
    }

    private static byte[] content(String path, JsonValue file) {
      if (file instanceof JsonValue.Str text) {
        return text.value().getBytes(StandardCharsets.UTF_8);
      }
      Fields fields = Fields.of(path, file);
      try {
        byte[] bytes = Base64.getDecoder().decode(fields.string("base64"));
        fields.end();
        return bytes;
      } catch (IllegalArgumentException e) {
        throw new WritException(ToolsError.SOURCE_INVALID, path + " is neither text nor base64", e);
      }
    }
  }

  private final ToolProject project;
  private final ToolManifest manifest;
  private final Driver driver;

  /**
   * @param driver the one that the project's manifest names
   */
  public ToolTests(ToolProject project, Driver driver) {
    this.project = project;
    this.manifest = project.manifest();
    this.driver = driver;
  }

  /**
   * Runs them in the order of their names.
   *
   * @param tests by their paths
   * @throws WritException {@code TOL-201} for a test that cannot be read
   */
  public List<Verdict> run(SortedMap<String, byte[]> tests) {
    List<Verdict> verdicts = new ArrayList<>();
    tests.forEach((path, bytes) -> verdicts.add(run(path, Case.read(path, bytes))));
    return verdicts;
  }

  private Verdict run(String path, Case test) {
    try {
      ToolSchemas.of(manifest).requireInput(test.operation, test.input);
      DriverOutcome outcome =
          driver
              .prepare(manifest, test.operation, file -> project.files().get(file.path()))
              .run(invocation(test));
      return new Verdict(path, difference(test, outcome), outcome.metrics().wallMs());
    } catch (WritException refused) {
      return new Verdict(path, Optional.of(refused.getMessage()), 0);
    }
  }

  private Invocation invocation(Case test) {
    List<Input> inputs = new ArrayList<>();
    test.inputs.forEach((name, bytes) ->
        inputs.add(new Input(name, Digest.sha256(bytes), bytes.length, "text/plain")));
    return new Invocation(
        new Scope("test", "test", "test"),
        test.input,
        inputs,
        input -> new ByteArrayInputStream(test.inputs.get(input.name())),
        new byte[32],
        TIME,
        manifest.resourcesMax(),
        manifest.sandboxes().getFirst(),
        Optional.empty(),
        false);
  }

  private Optional<String> difference(Case test, DriverOutcome outcome) {
    boolean succeeded = outcome.end() == DriverOutcome.End.SUCCEEDED;
    if (test.reason.isPresent() || !succeeded) {
      boolean wanted =
          !succeeded
              && test.reason.equals(Optional.of(outcome.reason()))
              && outcome.message().contains(test.message.orElse(""));
      return wanted
          ? Optional.empty()
          : Optional.of(outcome.end().text() + ", " + outcome.reason() + ": " + outcome.message());
    }
    List<String> names = outcome.artifacts().stream().map(DriverOutcome.Artifact::name).toList();
    if (!names.equals(test.artifacts)) {
      return Optional.of("it left " + names + " instead of " + test.artifacts);
    }
    ToolManifest.Operation operation = manifest.operation(test.operation).orElseThrow();
    String mediaType = outcome.output().orElseThrow().mediaType();
    if (!mediaType.equals(operation.mediaType())) {
      return Optional.of(mediaType + " instead of " + operation.mediaType());
    }
    byte[] bytes = outcome.output().get().bytes();
    if (operation.output().isEmpty()) {
      byte[] wanted = Case.content(test.operation + "/output", test.output.orElseThrow());
      return Arrays.equals(bytes, wanted)
          ? Optional.empty()
          : Optional.of(
              bytes.length
                  + " bytes, "
                  + Digest.sha256(bytes)
                  + ", instead of "
                  + wanted.length
                  + ", "
                  + Digest.sha256(wanted));
    }
    JsonValue output = Jcs.parse(bytes);
    ToolSchemas.of(manifest).requireOutput(test.operation, output);
    return output.equals(test.output.orElseThrow())
        ? Optional.empty()
        : Optional.of(
            new String(Jcs.write(output), StandardCharsets.UTF_8)
                + " instead of "
                + new String(Jcs.write(test.output.get()), StandardCharsets.UTF_8));
  }
}

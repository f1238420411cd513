package dev.writ.tools.http;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.Call;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.http.call.HttpDriver;
import dev.writ.tools.process.TestHosts;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** The driver with a network and secrets of the test's own. */
public final class HttpLab implements AutoCloseable {
  private final TestHosts hosts;
  private final HttpDriver driver;

  public HttpLab(UnaryOperator<SandboxSettings> with, Map<String, String> secrets) {
    hosts =
        TestHosts.open(
            with,
            (manifest, _) ->
                manifest.capabilities().ownSecrets().stream()
                    .map(name ->
                        new SecretFile(name, secrets.get(name).getBytes(StandardCharsets.UTF_8)))
                    .toList(),
            Optional.empty());
    driver = new HttpDriver(hosts.host());
  }

  /** A package of one operation, {@code op}. */
  public static ToolProject project(String server, String more, String http, String input) {
    return project(
        """
        format: 1
        tool: api
        version: 1.0.0
        language: http
        runtime: "1"
        http:
          server: %s
        %s
        operations:
          op:
            http: %s
            input: %s
            output: { type: object }
        resource_class: small
        """
            .formatted(server, more.indent(2), http, input));
  }

  public static ToolProject project(String manifest) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put("tool.manifest", manifest.getBytes(StandardCharsets.UTF_8));
    files.put("tool.lock", "format: 1\ndependencies: []\n".getBytes(StandardCharsets.UTF_8));
    return ToolProject.of(files);
  }

  /** A call of its operation {@code op}. */
  public Call call(ToolProject project, String params) {
    return new Call(
            driver.prepare(project.manifest(), "op", file -> project.files().get(file.path())))
        .sandbox("http")
        .params((JsonValue.Obj) Jcs.parse(params.getBytes(StandardCharsets.UTF_8)));
  }

  public HttpDriver driver() {
    return driver;
  }

  /** End and reason, for assertions. */
  public static String end(DriverOutcome outcome) {
    return outcome.end().text() + " " + outcome.reason();
  }

  @Override
  public void close() {
    driver.close();
    hosts.close();
  }
}

package dev.writ.cli.operations;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A real Prometheus with the rules that are released, which scrapes one server four times a second.
 */
public final class PrometheusServer implements AutoCloseable {
  private static final Pattern LISTENING =
      Pattern.compile("msg=\"Listening on\" address=(127\\.0\\.0\\.1:\\d+)");

  private final Process process;
  private final HttpClient client = HttpClient.newHttpClient();
  private final String url;

  /**
   * @param target host and port
   */
  public PrometheusServer(Path dir, String target) throws IOException {
    Path own = Files.createDirectories(dir.resolve("prometheus"));
    Path config =
        Files.writeString(
            own.resolve("prometheus.yml"),
            Files.readString(OperationsFiles.PROMETHEUS.resolve("prometheus.yml"))
                .replace("127.0.0.1:8181", target)
                .replace("interval: 15s", "interval: 250ms")
                .replace("- writ-", "- " + OperationsFiles.PROMETHEUS + "/writ-"));
    process =
        new ProcessBuilder(
                "prometheus",
                "--config.file=" + config,
                "--storage.tsdb.path=" + own.resolve("data"),
                "--web.listen-address=127.0.0.1:0")
            .redirectErrorStream(true)
            .start();
    url = "http://" + listening();
  }

  private String listening() throws IOException {
    StringBuilder said = new StringBuilder();
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      Matcher address = LISTENING.matcher(line);
      if (address.find()) {
        Thread.ofVirtual().start(() -> out.lines().forEach(_ -> {}));
        return address.group(1);
      }
      said.append(line).append('\n');
    }
    throw new IOException("prometheus has ended: " + said);
  }

  /** The value of a query's only result, once there is one. */
  public String value(String query) throws Exception {
    for (int i = 0; i < 20_000; i++) {
      Optional<String> value = ask(query);
      if (value.isPresent()) {
        return value.get();
      }
    }
    throw new AssertionError("no result of " + query);
  }

  private Optional<String> ask(String query) throws Exception {
    HttpResponse<byte[]> answer =
        client.send(
            HttpRequest.newBuilder(
                    URI.create(
                        url
                            + "/api/v1/query?query="
                            + URLEncoder.encode(query, StandardCharsets.UTF_8)))
                .build(),
            HttpResponse.BodyHandlers.ofByteArray());
    if (answer.statusCode() != 200) {
      return Optional.empty(); // it is starting
    }
    JsonValue.Obj data = (JsonValue.Obj) ((JsonValue.Obj) Jcs.parse(answer.body())).get("data");
    var results = ((JsonValue.Arr) data.get("result")).items();
    return results.size() != 1
        ? Optional.empty()
        : Optional.of(
            ((JsonValue.Str)
                    ((JsonValue.Arr) ((JsonValue.Obj) results.getFirst()).get("value"))
                        .items()
                        .getLast())
                .value());
  }

  @Override
  public void close() {
    client.close();
    process.destroy();
    process.onExit().join();
  }
}

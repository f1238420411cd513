package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.sandbox.host.Trees;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.AudioContent;
import io.modelcontextprotocol.spec.McpSchema.BlobResourceContents;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.EmbeddedResource;
import io.modelcontextprotocol.spec.McpSchema.ImageContent;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Packages in Python and JavaScript give a picture, a sound, text, CSV and bytes, over a socket.
 */
class PackagesGiveBytesOfAnyTypeTest {
  private static final String TOKEN = "token-of-a-test-of-media-types";

  /** The smallest picture: one pixel. */
  private static final String PNG =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

  /** 44 bytes of head, and two samples. */
  private static final String WAV =
      Base64.getEncoder()
          .encodeToString(
              HexFormat.of()
                  .parseHex(
                      "524946462800000057415645666d74201000000001000100401f0000803e0000"
                          + "02001000646174610400000001ff7f00"));

  private static final String CSV = "name,value\r\n\"é, 😀\",1\r\n";

  /** Operations with their media types. */
  private static final Map<String, String> TYPES =
      Map.of(
          "png", "image/png",
          "wav", "audio/wav",
          "text", "text/plain",
          "csv", "text/csv",
          "raw", "application/octet-stream");

  private static final Map<String, byte[]> CONTENT =
      Map.of(
          "png", Base64.getDecoder().decode(PNG),
          "wav", Base64.getDecoder().decode(WAV),
          "text", "plain ü".getBytes(StandardCharsets.UTF_8),
          "csv", CSV.getBytes(StandardCharsets.UTF_8),
          "raw", new byte[] {0, -1, -2, 10, 13, 0});

  private static final String PYTHON =
      """
      import base64

      def png(input, context):
          return base64.b64decode("%s")

      def wav(input, context):
          return bytearray(base64.b64decode("%s"))

      def text(input, context):
          return "plain \\u00fc"

      def csv(input, context):
          return "name,value\\r\\n\\"\\u00e9, \\U0001f600\\",1\\r\\n"

      def raw(input, context):
          return memoryview(bytes([0, 255, 254, 10, 13, 0]))
      """
          .formatted(PNG, WAV);

  private static final String NODE =
      """
      export const png = () => Buffer.from('%s', 'base64');
      export const wav = () => new Uint8Array(Buffer.from('%s', 'base64'));
      export const text = () => 'plain \\u00fc';
      export const csv = () => 'name,value\\r\\n"\\u00e9, \\u{1f600}",1\\r\\n';
      export const raw = () => Uint8Array.of(0, 255, 254, 10, 13, 0).buffer;
      """
          .formatted(PNG, WAV);

  @TempDir Path dir;
  private final TreeMap<String, String> environment = new TreeMap<>();
  private Path sandboxes;
  private Path policy;

  @BeforeEach
  void init() throws Exception {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    policy = dir.resolve("home/policy.yaml");
    done("init");
    done("key", "new", "publisher", "--role", "publisher");
    done("key", "new", "mcp", "--role", "surface");
  }

  @AfterEach
  void remove() {
    Trees.remove(sandboxes);
  }

  private Run done(String... args) {
    Run run = Run.on("", "", environment, Commands.ALL, args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run;
  }

  private Path project(String name, String language, String entry, String code) throws Exception {
    Path project = Files.createDirectories(dir.resolve(name).resolve("src")).getParent();
    StringBuilder manifest =
        new StringBuilder(
            """
            format: 1
            tool: %s
            version: 1.0.0
            language: %s
            runtime: "%s"
            entry: src/%s
            capabilities: { filesystem: none, network: [], artifacts: [], spawn: false }
            resource_class: small
            determinism: recorded
            operations:
            """
                .formatted(name, language, language.equals("python") ? "3" : "18+", entry));
    TYPES.forEach((operation, type) ->
        manifest
            .append("  ")
            .append(operation)
            .append(": { input: { type: object }, media_type: ")
            .append(type)
            .append(" }\n"));
    Files.writeString(project.resolve("tool.manifest"), manifest);
    Files.writeString(project.resolve("tool.lock"), "format: 1\ndependencies: []\n");
    Files.writeString(project.resolve("src").resolve(entry), code);
    return project;
  }

  private void approve(Path project, String name) throws Exception {
    String file = dir.resolve(name + ".tool").toString();
    done("tool", "lock", project.toString());
    done("tool", "package", project.toString(), "--out", file);
    done("tool", "sign", file);
    String said = done("tool", "register", file).out();
    Matcher line = Pattern.compile("- \\{ name: " + name + ".*}").matcher(said);
    assertThat(line.find()).as(said).isTrue();
    String text = Files.readString(policy);
    Files.writeString(
        policy,
        text.replace(", word-count]", ", " + name + ", word-count]")
            .replace("\nbudgets:\n", "  " + line.group() + "\n\nbudgets:\n"));
    Files.writeString(
        policy,
        "  - effect: { tool: " + name + " }\n    require:\n      cel: \"true\"\n",
        StandardOpenOption.APPEND);
  }

  private ProcessBuilder writ(String... arguments) {
    List<String> command = OwnProcess.writ(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(dir.resolve("log").toFile()));
    builder.environment().putAll(environment);
    return builder;
  }

  private static void assertShown(String operation, CallToolResult result) {
    byte[] content = CONTENT.get(operation);
    String base64 = Base64.getEncoder().encodeToString(content);
    assertThat(result.isError()).as(result.toString()).isFalse();
    assertThat(result.content()).hasSize(1);
    switch (result.content().getFirst()) {
      case ImageContent image -> {
        assertThat(operation).isEqualTo("png");
        assertThat(image.mimeType()).isEqualTo("image/png");
        assertThat(image.data()).isEqualTo(base64);
      }
      case AudioContent audio -> {
        assertThat(operation).isEqualTo("wav");
        assertThat(audio.mimeType()).isEqualTo("audio/wav");
        assertThat(audio.data()).isEqualTo(base64);
      }
      case TextContent text -> {
        assertThat(operation).isIn("text", "csv");
        assertThat(text.text()).isEqualTo(new String(content, StandardCharsets.UTF_8));
      }
      case EmbeddedResource resource -> {
        assertThat(operation).isEqualTo("raw");
        BlobResourceContents blob = (BlobResourceContents) resource.resource();
        assertThat(blob.mimeType()).isEqualTo("application/octet-stream");
        assertThat(blob.blob()).isEqualTo(base64);
      }
      default -> throw new AssertionError(result.toString());
    }
  }

  /** The bytes on the standard output of {@code writ output}, in this process. */
  private byte[] output(String receipt) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Terminal terminal =
        new Terminal(new ByteArrayInputStream(new byte[0]), out, err, "", environment);
    int status = new Cli(new Session(terminal, environment), Commands.ALL).run("output", receipt);
    assertThat(status).as(err.toString(StandardCharsets.UTF_8)).isZero();
    return out.toByteArray();
  }

  private static HttpResponse<byte[]> get(String url) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(url))
                .header("Authorization", "Bearer " + TOKEN)
                .build(),
            HttpResponse.BodyHandlers.ofByteArray());
  }

  @Test
  void eachTypeComesToAClientAndIntoTheReceipt() throws Exception {
    Path python = project("media-py", "python", "tool.py", PYTHON);
    approve(python, "media-py");
    assertThat(done("tool", "lint", python.toString()).out()).contains("Nothing");
    approve(project("media-js", "node", "tool.mjs", NODE), "media-js");
    done("policy", "activate", policy.toString());
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        """
        writ_gateway: 1
        tokens:
          - { name: t, digest: "%s", tenant: local, subject: agent, roles: [analyst], expires_at: "2999-01-01T00:00:00.000Z" }
        surfaces:
          mcp:
            keys: { local: mcp }
            settings: { cpu_ms: "9000", memory_bytes: "268435456", wall_ms: "60000" }
        """
            .formatted(Digest.sha256(TOKEN.getBytes(StandardCharsets.UTF_8))));
    Process server = writ("serve", "--port", "0").start();
    TreeMap<String, String> receipts = new TreeMap<>();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      String line = out.readLine();
      assertThat(line).as(Files.readString(dir.resolve("log"))).isNotNull();
      String url = line.replace("listening on ", "");
      try (McpSyncClient client =
          McpClient.sync(
                  HttpClientStreamableHttpTransport.builder(url)
                      .addHttpRequestCustomizer((request, _, _, _, _) ->
                          request.header("Authorization", "Bearer " + TOKEN))
                      .build())
              .requestTimeout(Duration.ofSeconds(60))
              .build()) {
        client.initialize();
        for (String tool : List.of("media-py", "media-js")) {
          for (String operation : TYPES.keySet()) {
            CallToolResult result =
                client.callTool(
                    CallToolRequest.builder(tool + "_" + operation).arguments(Map.of()).build());
            assertShown(operation, result);
            String receipt = (String) result.meta().get("dev.writ/receipt");
            receipts.put(tool + " " + operation, receipt);
            HttpResponse<byte[]> output = get(url + "/v1/receipts/" + receipt + "/output");
            assertThat(output.statusCode()).isEqualTo(200);
            assertThat(output.body()).isEqualTo(CONTENT.get(operation));
          }
        }
      }
    } finally {
      server.destroy();
      server.waitFor();
    }
    for (String tool : List.of("media-py", "media-js")) {
      for (String operation : List.of("png", "csv")) {
        String receipt = receipts.get(tool + " " + operation);
        assertThat(done("show", receipt, "--json").out())
            .contains("\"media_type\":\"" + TYPES.get(operation) + "\"");
        assertThat(output(receipt)).isEqualTo(CONTENT.get(operation));
      }
    }
    Process output = writ("output", receipts.get("media-py png")).start();
    assertThat(output.getInputStream().readAllBytes()).isEqualTo(CONTENT.get("png"));
    assertThat(output.waitFor()).isZero();
    assertThat(done("audit").status()).isZero();
  }
}

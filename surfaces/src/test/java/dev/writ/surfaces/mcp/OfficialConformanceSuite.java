package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The scenarios of {@code @modelcontextprotocol/conformance} that ask for no fixture tools and no
 * capability that we do not have; spec/surface-mcp.md lists the others with reasons. It fetches
 * from npm, so it is no part of a normal run and its name is none of a test: {@code
 * -Dtest=OfficialConformanceSuite} runs it.
 */
class OfficialConformanceSuite {
  private static final String SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

  /** The fixture tools that a tool of Writ's can be: one output of one media type. */
  private static final List<ToolManifest> FIXTURES =
      List.of(
          tool("test_simple_text", "text/plain", "{\"type\":\"object\"}"),
          tool("test_image_content", "image/png", "{\"type\":\"object\"}"),
          tool("test_audio_content", "audio/wav", "{\"type\":\"object\"}"),
          tool("test_embedded_resource", "application/octet-stream", "{\"type\":\"object\"}"),
          tool("test_error_handling", "text/plain", "{\"type\":\"object\"}"),
          tool(
              "json_schema_2020_12_tool",
              "text/plain",
              """
              {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": {
                  "address": {
                    "type": "object",
                    "properties": { "street": {"type": "string"}, "city": {"type": "string"} }
                  }
                },
                "properties": { "name": {"type": "string"}, "address": {"$ref": "#/$defs/address"} },
                "additionalProperties": false
              }
              """));

  @TempDir static Path dir;
  private static McpTestServer server;
  private static AuthorizingProxy proxy;

  @BeforeAll
  static void start() throws Exception {
    server = new McpTestServer(dir.resolve("home"), FIXTURES);
    server.home.driver.does("test_simple_text", Behaviours.gives("text", "text/plain"));
    server.home.driver.does("test_image_content", Behaviours.gives("png", "image/png"));
    server.home.driver.does("test_audio_content", Behaviours.gives("wav", "audio/wav"));
    server.home.driver.does(
        "test_embedded_resource", Behaviours.gives("x", "application/octet-stream"));
    server.home.driver.does("test_error_handling", Behaviours.fails());
    proxy = new AuthorizingProxy(server.port(), McpTestServer.tokenOf("alice"));
  }

  @AfterAll
  static void stop() throws Exception {
    proxy.close();
    server.close();
  }

  private static ToolManifest tool(String name, String mediaType, String input) {
    ToolManifest any = TestTools.manifest(name, Determinism.RECORDED);
    return new ToolManifest(
        name,
        any.version(),
        any.driver(),
        any.determinism(),
        List.of(
            new ToolManifest.Operation("do", TestTools.object(input), Optional.empty(), mediaType)),
        any.capabilities(),
        any.resourcesMax(),
        any.sandboxes(),
        any.files());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-error",
        "json-schema-2020-12",
        "resources-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection"
      })
  void passesInSessions(String scenario) throws Exception {
    passes(scenario, "2025-11-25");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tools-list",
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-error",
        "server-sse-multiple-streams",
        "resources-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params"
      })
  void passesWithoutSessions(String scenario) throws Exception {
    passes(scenario, "2026-07-28");
  }

  private static void passes(String scenario, String version) throws Exception {
    Process suite =
        new ProcessBuilder(
                List.of(
                    "npx",
                    "-y",
                    "-p",
                    "node@22",
                    "-p",
                    SUITE,
                    "conformance",
                    "server",
                    "--url",
                    "http://127.0.0.1:" + proxy.port() + "/mcp",
                    "--spec-version",
                    version,
                    "--scenario",
                    scenario))
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(suite.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(suite.waitFor(5, TimeUnit.MINUTES)).isTrue();
    System.out.println(said);
    assertThat(suite.exitValue()).as(said).isZero();
    assertThat(said).contains(" 0 failed").doesNotContain("0 passed");
    assertThat(server.failures).isEmpty();
  }
}

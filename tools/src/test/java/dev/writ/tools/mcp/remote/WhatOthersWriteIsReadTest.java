package dev.writ.tools.mcp.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.mcp.web.Challenge;
import dev.writ.tools.mcp.web.WebAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of events, demands for tokens, addresses and marks of schemas, as others write them. */
class WhatOthersWriteIsReadTest {

  @Test
  void aStreamIsReadWhereverItIsCut() {
    String text =
        "\uFEFF: hello\r\nid: 1\rdata: a\ndata:b\n\nevent: other\ndata: c\n\n"
            + "id: \nretry: 20\nretry: x\ndata\n\ndata: é\r\n\r\ndata: unfinished\n";
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int cut = 0; cut < bytes.length; cut++) {
      List<String> seen = new ArrayList<>();
      EventReader reader =
          new EventReader(
              100, e -> seen.add(e.type() + " " + new String(e.data(), StandardCharsets.UTF_8)));
      reader.next(bytes, cut);
      reader.next(java.util.Arrays.copyOfRange(bytes, cut, bytes.length), bytes.length - cut);
      assertThat(seen).containsExactly("message a\nb", "other c", "message é");
      assertThat(reader.lastId()).isEmpty();
      assertThat(reader.retryMs()).hasValue(20);
    }
  }

  @Test
  void anIdThatNoHeaderCouldHoldIsNone() {
    EventReader reader = new EventReader(100, _ -> {});
    byte[] bytes = "id: a\n\nid: b\u00e9\n\n".getBytes(StandardCharsets.UTF_8);
    reader.next(bytes, bytes.length);
    assertThat(reader.lastId()).contains("a");
  }

  @Test
  void anEventThatDoesNotEndIsTooLong() {
    EventReader reader = new EventReader(10, _ -> {});
    byte[] bytes = "data: 1234\ndata: 5678\n".getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> reader.next(bytes, bytes.length)).hasMessageContaining("TOL-236");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "Bearer resource_metadata=\"https://a.example/x\"|https://a.example/x|[]",
        "Basic realm=\"Bearer scope=x\", Bearer scope=\"a b a\"||[a, b]",
        "bearer realm=\"x, \\\"y\", resource_metadata=\"https://a\", scope=c|https://a|[c]",
        "Negotiate abc==, Bearer, Basic scope=\"z\"||[]",
        "Bearer scope=\"ok \u0001bad\"||[ok]",
      })
  void ofDemandsTheOneForBearerTokensCounts(String value, String metadata, String scopes) {
    Challenge challenge = Challenge.bearer(List.of(value)).orElseThrow();
    assertThat(challenge.resourceMetadata().orElse(null)).isEqualTo(metadata);
    assertThat(challenge.scopes().toString()).isEqualTo(scopes);
  }

  @Test
  void anotherDemandIsNone() {
    assertThat(Challenge.bearer(List.of("Basic realm=\"x\"", "Bearerish a=b", "\"", ""))).isEmpty();
  }

  /** On the small stack of a thread, too. */
  @Test
  void aLongDemandIsReadWhole() throws InterruptedException {
    String text = "x".repeat(3000) + "\\\"".repeat(2000);
    List<String> read = new ArrayList<>();
    Runnable reads =
        () ->
            Challenge.bearer(List.of("Bearer a=\"" + text + "\", scope=\"s\""))
                .ifPresent(challenge -> read.addAll(challenge.scopes()));
    Thread small = new Thread(null, reads, "small", 256 * 1024);
    small.start();
    small.join();
    assertThat(read).containsExactly("s");
    assertThat(Challenge.bearer(List.of("Bearer a=\"" + "x".repeat(8000) + "\""))).isEmpty();
    assertThat(Challenge.bearer(List.of("Bearer a=\"" + "x".repeat(7900))).orElseThrow().scopes())
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://a.example/",
        "https://user@a.example/",
        "https://a.example/#x",
        "https://a.example:0/",
        "https://a.example./",
        "https:///x",
        "javascript:alert(1)",
        "https://a.example/ x",
        "",
      })
  void whatIsNoAddressOfAServerIsNone(String text) {
    assertThat(WebAddress.parse(text)).isEmpty();
  }

  @Test
  void addressesAreOfOneOriginWhateverTheirCase() {
    WebAddress address = WebAddress.parse("HTTPS://A.example:443/x?y=1").orElseThrow();
    assertThat(address.text()).isEqualTo("https://a.example/x?y=1");
    assertThat(address.isAt(WebAddress.parse("https://a.EXAMPLE").orElseThrow())).isTrue();
    assertThat(address.isAt(WebAddress.parse("http://a.example:443").orElseThrow())).isFalse();
    assertThat(WebAddress.parse("http://[::1]:80/").orElseThrow().isLoopback()).isTrue();
    assertThat(address.resolve("//b.example/z").orElseThrow().origin())
        .isEqualTo("https://b.example");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\"}}}",
        "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"a b\"}}}",
        "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"x\\r\\ny\"}}}",
        "{\"properties\":{\"a\":{\"type\":\"object\",\"x-mcp-header\":\"A\"}}}",
        "{\"properties\":{\"a\":{\"items\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}}",
        "{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}]}",
        "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},"
            + "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"a\"}}}",
      })
  void marksThatTheProtocolDoesNotHaveAreRefused(String schema) {
    assertThat(HeaderText.refusal((JsonValue.Obj) Jcs.parse(bytes(schema)))).isPresent();
  }

  @Test
  void aPropertyThatHasTheNameOfAMarkIsNone() {
    String schema =
        "{\"properties\":{\"x-mcp-header\":{\"type\":\"number\"},\"o\":{\"type\":\"object\","
            + "\"properties\":{\"a\":{\"type\":\"integer\",\"x-mcp-header\":\"Deep\"}}}}}";
    JsonValue.Obj parsed = (JsonValue.Obj) Jcs.parse(bytes(schema));
    assertThat(HeaderText.refusal(parsed)).isEmpty();
    assertThat(HeaderText.arguments(parsed, Jcs.parse(bytes("{\"o\":{\"a\":-7}}"))))
        .extracting(f -> f.name() + " " + f.value())
        .containsExactly("Mcp-Param-Deep -7");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "us-west1|us-west1",
        "Hello, 世界|=?base64?SGVsbG8sIOS4lueVjA==?=",
        "' padded '|=?base64?IHBhZGRlZCA=?=",
        "=?base64?literal?=|=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
      })
  void textsThatNoHeaderHoldsAreSentInBase64(String text, String sent) {
    assertThat(HeaderText.encode(text)).isEqualTo(sent);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}

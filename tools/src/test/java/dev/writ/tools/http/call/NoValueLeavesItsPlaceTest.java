package dev.writ.tools.http.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.http.HttpApi;
import dev.writ.tools.http.HttpLab;
import dev.writ.tools.http.HttpOperation;
import dev.writ.tools.http.PathTemplate;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Templates times values: whatever stands in the params, the request goes to the same host, below
 * the same path, with the template's segments, and is one request.
 */
class NoValueLeavesItsPlaceTest {
  private static final int CASES = 20_000;

  private static final List<String> TEMPLATES =
      List.of(
          "/a/{p}",
          "/{p}",
          "/a.{p}/b",
          "/{p}.json",
          "/a/{p}{q}/c",
          "/.{p}/x",
          "/{p}/{q}/",
          "/{p}2Fx/c",
          "/a/{p}e{q}");

  /** What attackers and careless callers write. */
  private static final List<String> PIECES =
      List.of(
          "..",
          ".",
          "/",
          "\\",
          "%2e",
          "%2F",
          "%5c",
          "%25",
          "%",
          "%2",
          "2",
          "e.",
          "Fy",
          "5c",
          "%252e",
          "%00",
          "%0d%0a",
          "\r\n",
          "\n",
          "\0",
          ";",
          "?",
          "#",
          "&",
          "=",
          "@",
          ":",
          "//evil.example",
          "a",
          "é",
          "😀",
          " ",
          "+",
          "*",
          "\u2028",
          "\u202e",
          "{q}",
          "$",
          "~",
          "'",
          "\"",
          "<",
          "\ud800",
          "..;",
          "x".repeat(50));

  private static final HttpApi[] APIS =
      TEMPLATES.stream().map(NoValueLeavesItsPlaceTest::api).toArray(HttpApi[]::new);

  private static HttpApi api(String template) {
    boolean two = template.contains("{q}");
    return HttpLab.project(
            "https://api.example/base/v1",
            "",
            "{ method: POST, path: \""
                + template
                + "\", parameters: { p: { in: path }, "
                + (two ? "q: { in: path }" : "q: { in: query }")
                + ", r: { in: query, name: \"r&[]\" }, s: { in: header, name: X-S } } }",
            "{ type: object, properties: { p: {}, q: {}, r: {}, s: {} }, required: [p, q],"
                + " additionalProperties: false }")
        .source()
        .http()
        .orElseThrow();
  }

  private static String value(Random random) {
    StringBuilder value = new StringBuilder();
    int pieces = random.nextInt(5);
    for (int i = 0; i < pieces; i++) {
      value.append(PIECES.get(random.nextInt(PIECES.size())));
    }
    return value.toString();
  }

  @Test
  void whateverItIs() throws URISyntaxException {
    Random random = new Random(16);
    int sent = 0;
    for (int n = 0; n < CASES; n++) {
      HttpApi api = APIS[n % APIS.length];
      HttpOperation operation = api.operations().get("op");
      JsonValue.Obj params =
          JsonValue.object()
              .put("p", value(random))
              .put("q", value(random))
              .put("r", value(random))
              .put("s", value(random))
              .build();
      RequestParts parts;
      try {
        parts = RequestParts.of(api.server(), operation, params);
      } catch (WritException refused) {
        assertThat(refused.code().code()).isEqualTo("TOL-252");
        continue;
      }
      sent++;
      require(operation, params, parts);
    }
    assertThat(sent).as("values that may stand do").isGreaterThan(CASES / 50);
  }

  /** Each of these values may stand alone. */
  @ParameterizedTest
  @CsvSource({
    "/a/{p}{q}/c, %2, e.",
    "/a/{p}{q}/c, x%2, Fy",
    "/a/{p}{q}/c, x%25, 2Fy",
    "/a/{p}{q}/c, x%, 5cy",
    "/a/{p}{q}/c, x%0, ay",
    "/{p}2Fx/c, x%, y",
    "/a/{p}e{q}, %2, ;x",
    "/.{p}/x, ;x, y",
  })
  void whatOnlyTheWholeSegmentIs(String template, String p, String q) {
    assertThat(PathTemplate.refusal(p)).isEmpty();
    assertThat(PathTemplate.refusal(q)).isEmpty();
    TreeMap<String, String> values = new TreeMap<>(Map.of("p", p, "q", q));
    assertThat(PathTemplate.parse(template).orElseThrow().fill(values)).isEmpty();
    HttpApi api = APIS[TEMPLATES.indexOf(template)];
    JsonValue.Obj params = JsonValue.object().put("p", p).put("q", q).build();
    assertThatThrownBy(() -> RequestParts.of(api.server(), api.operations().get("op"), params))
        .hasMessageContaining("TOL-252");
  }

  @ParameterizedTest
  @CsvSource({
    "/a/{p}{q}/c, x%2, y, /base/v1/a/x%252y/c",
    "/a/{p}{q}/c, a, b, /base/v1/a/ab/c",
    "/a/{p}{q}/c, 100%, e, /base/v1/a/100%25e/c",
    "/{p}2Fx/c, x, y, /base/v1/x2Fx/c",
  })
  void whatLooksLikeItButIsNone(String template, String p, String q, String path) {
    HttpApi api = APIS[TEMPLATES.indexOf(template)];
    JsonValue.Obj params = JsonValue.object().put("p", p).put("q", q).build();
    assertThat(RequestParts.of(api.server(), api.operations().get("op"), params).path())
        .isEqualTo(path);
  }

  private static void require(HttpOperation operation, JsonValue.Obj params, RequestParts parts)
      throws URISyntaxException {
    String shown = operation.path() + " " + params;
    String template = operation.path().text();
    assertThat(parts.path()).as(shown).matches("/base/v1/[A-Za-z0-9._~%/-]+");
    URI uri = new URI("https://api.example" + parts.path() + "?" + String.join("&", parts.query()));
    assertThat(uri.getHost()).isEqualTo("api.example");
    assertThat(uri.getRawFragment()).isNull();
    assertThat(uri.normalize().getRawPath()).as(shown).isEqualTo(parts.path());
    String seen = parts.path();
    for (int decodings = 0; decodings < 6; decodings++) {
      String[] segments = seen.substring("/base/v1".length()).split("/", -1);
      assertThat(segments).as(shown).hasSize(template.split("/", -1).length);
      assertThat(segments).as(shown).noneMatch(s -> s.equals("..") || s.equals("."));
      assertThat(seen).as(shown).doesNotContain("\r", "\n", "\0", "\\");
      seen = decoded(seen);
    }
    for (String pair : parts.query()) {
      assertThat(pair).as(shown).matches("[A-Za-z0-9._~%-]+=[A-Za-z0-9._~%-]*");
    }
    parts
        .fields()
        .forEach(field ->
            assertThat(field.value())
                .as(shown)
                .matches("[\\x20-\\x7e\\t]*")
                .doesNotContain("\n", "\r"));
  }

  /** As a careless server decodes it: what is malformed stays, and the rest does not. */
  private static String decoded(String path) {
    return Pattern.compile("(?:%[0-9A-Fa-f]{2})+")
        .matcher(path)
        .replaceAll(
            m -> Matcher.quoteReplacement(URLDecoder.decode(m.group(), StandardCharsets.UTF_8)));
  }
}

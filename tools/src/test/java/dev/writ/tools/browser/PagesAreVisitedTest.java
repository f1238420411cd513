package dev.writ.tools.browser;

import static dev.writ.tools.browser.TestBrowser.artifact;
import static dev.writ.tools.browser.TestBrowser.console;
import static dev.writ.tools.browser.TestBrowser.egress;
import static dev.writ.tools.browser.TestBrowser.number;
import static dev.writ.tools.browser.TestBrowser.output;
import static dev.writ.tools.browser.TestBrowser.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.TreeMap;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the browser tool is for. */
class PagesAreVisitedTest {
  private static TestBrowser browser;

  @BeforeAll
  static void open() {
    browser = TestBrowser.open(Optional.empty());
  }

  @AfterAll
  static void close() {
    browser.close();
  }

  private static DriverOutcome succeeded(Call call) {
    DriverOutcome outcome = call.run();
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    return outcome;
  }

  @Test
  void aPageThatWasGivenGivesEveryResultAndTheSameBytesAgain() throws IOException {
    String page =
        "<!doctype html><title>Bill № 7</title><link rel=stylesheet href=style.css>"
            + "<h1>Total</h1><p id=sum>…</p><script src=sum.js></script>";
    Call call =
        browser
            .html(
                page,
                ",\"results\":[\"html\",\"text\",\"png\",\"pdf\",\"console\"],"
                    + "\"viewport\":{\"width\":320,\"height\":200}")
            .input("style.css", "h1 { color: rgb(200, 0, 0) }")
            .input("sum.js", "sum.textContent = 40 + 2; console.log('summed \\ud800')");
    DriverOutcome first = succeeded(call);
    assertThat(text(first, "title")).isEqualTo("Bill № 7");
    assertThat(text(first, "text")).isEqualTo("Total\n\n42");
    assertThat(text(first, "html")).startsWith("<!DOCTYPE html>").contains("<p id=\"sum\">42</p>");
    assertThat(text(first, "final_url")).isEqualTo("http://page.localhost/");
    assertThat(console(first)).containsExactly("log: summed \ufffd");
    var image = ImageIO.read(new ByteArrayInputStream(artifact(first, "screenshot.png")));
    assertThat(image.getWidth()).isEqualTo(320);
    assertThat(image.getHeight()).isEqualTo(200);
    String pdf = new String(artifact(first, "page.pdf"), StandardCharsets.ISO_8859_1);
    assertThat(pdf)
        .startsWith("%PDF-")
        .contains("/CreationDate (D:20260102030405+00'00')", "/ModDate (D:20260102030405+00'00')");
    assertThat(egress(first)).isEqualTo("[]");
    assertThat(new String(Jcs.write(first.observations()), StandardCharsets.UTF_8))
        .contains("\"toolchain\":{\"chromium\":\"", "\"node\":\"");

    DriverOutcome again = succeeded(call.sandbox("default"));
    assertThat(artifact(again, "screenshot.png")).isEqualTo(artifact(first, "screenshot.png"));
    assertThat(artifact(again, "page.pdf")).isEqualTo(artifact(first, "page.pdf"));
    assertThat(again.artifacts()).hasSize(2);
  }

  @Test
  void theExampleOfTheSpecIsWhatComesOut() throws IOException {
    var blocks = SpecExample.blocks();
    DriverOutcome outcome =
        succeeded(browser.call(new String(Jcs.write(blocks.getFirst()), StandardCharsets.UTF_8)));
    TreeMap<String, JsonValue> found = new TreeMap<>(output(outcome).members());
    assertThat(number(outcome, "duration_ms")).isPositive();
    found.put("duration_ms", blocks.get(1).get("duration_ms"));
    assertThat(new JsonValue.Obj(found)).isEqualTo(blocks.get(1));
    assertThat(outcome.artifacts()).isEmpty();
  }

  @Test
  void aScriptWorksAPageOfARealServer() {
    try (WebServer server = WebServer.start()) {
      server
          .page(
              "/",
              "<title>Search</title><form action=/found><input name=q><select name=kind>"
                  + "<option value=a>A<option value=b>B</select><input type=checkbox name=deep>"
                  + "<button>Go</button></form>")
          .on(
              "/found",
              exchange -> {
                String query = exchange.getRequestURI().getQuery();
                WebServer.send(
                    exchange,
                    203,
                    "text/html",
                    "<title>Found</title><p>"
                        + query
                        + "<p id=late hidden>late"
                        + "<script>setTimeout(() => { late.hidden = false }, 50)</script>");
              });
      DriverOutcome outcome =
          succeeded(
              browser.call(
                  "{\"url\":\""
                      + server.url("/")
                      + "\",\"results\":[\"text\"],\"script\":["
                      + "{\"action\":\"type\",\"selector\":\"input[name=q]\",\"text\":\"ca\"},"
                      + "{\"action\":\"press\",\"key\":\"t\"},"
                      + "{\"action\":\"select\",\"selector\":\"select\",\"values\":[\"b\"]},"
                      + "{\"action\":\"check\",\"selector\":\"[name=deep]\"},"
                      + "{\"action\":\"hover\",\"selector\":\"button\"},"
                      + "{\"action\":\"click\",\"selector\":\"text=Go\"},"
                      + "{\"action\":\"wait\",\"url\":\"**/found?*\"},"
                      + "{\"action\":\"wait\",\"selector\":\"#late\"},"
                      + "{\"action\":\"wait\",\"load\":\"load\"},"
                      + "{\"action\":\"scroll\",\"y\":10}]}"));
      assertThat(text(outcome, "title")).isEqualTo("Found");
      assertThat(text(outcome, "text")).contains("q=cat&kind=b&deep=on", "late");
      assertThat(text(outcome, "final_url")).startsWith(server.url("/found?"));
      assertThat(number(outcome, "status")).isEqualTo(200);
      assertThat(number(outcome, "steps")).isEqualTo(10);
      assertThat(egress(outcome)).contains("\"verdict\":\"connected\"").doesNotContain("denied");
      assertThat(server.asked()).contains("GET /", "GET /found?q=cat&kind=b&deep=on");
    }
  }

  @Test
  void aFileThatWasGivenIsOpenedByItsNameAndPartsOfANetworkMayBeListed() {
    try (WebServer server = WebServer.start()) {
      server.on(
          "/data.json",
          exchange -> {
            exchange.getResponseHeaders().set("Access-Control-Allow-Origin", "*");
            WebServer.send(exchange, 200, "application/json", "{\"n\":7}");
          });
      DriverOutcome outcome =
          succeeded(
              browser
                  .call(
                      "{\"file\":\"a b/page.html\",\"network\":[\""
                          + server.place()
                          + "\"],\"results\":[\"text\",\"console\"],\"script\":["
                          + "{\"action\":\"wait\",\"selector\":\"#done\"},"
                          + "{\"action\":\"goto\",\"url\":\""
                          + server.url("/missing")
                          + "\"}]}")
                  .input(
                      "a b/page.html",
                      "<script>fetch('"
                          + server.url("/data.json")
                          + "').then(r => r.json()).then(v => { console.log(v.n);"
                          + "document.body.innerHTML = '<p id=done>x' })</script><body>"));
      assertThat(console(outcome)).contains("log: 7");
      assertThat(number(outcome, "status")).isEqualTo(404);
      assertThat(text(outcome, "final_url")).isEqualTo(server.url("/missing"));
    }
  }

  @Test
  void aLongPageIsShownWholeAndATooLongOneAsFarAsTheViewGoes() throws IOException {
    String results =
        ",\"results\":[\"png\"],\"full_page\":true,"
            + "\"viewport\":{\"width\":200,\"height\":100}";
    DriverOutcome whole = succeeded(browser.html("<body style='margin:0;height:3000px'>", results));
    assertThat(
            ImageIO.read(new ByteArrayInputStream(artifact(whole, "screenshot.png"))).getHeight())
        .isEqualTo(3_000);
    assertThat(output(whole).get("png_truncated")).isEqualTo(JsonValue.FALSE);
    DriverOutcome cut =
        succeeded(browser.html("<body style='margin:0;height:3000000px'>", results));
    assertThat(ImageIO.read(new ByteArrayInputStream(artifact(cut, "screenshot.png"))).getHeight())
        .isEqualTo(100);
    assertThat(output(cut).get("png_truncated")).isEqualTo(JsonValue.TRUE);
  }
}

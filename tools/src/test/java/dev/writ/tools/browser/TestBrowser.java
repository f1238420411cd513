package dev.writ.tools.browser;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import dev.writ.tools.registry.BuiltinTools;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** The browser tool of the release, on a host of its own. */
final class TestBrowser implements AutoCloseable {
  static final ToolManifest MANIFEST = BuiltinTools.manifest("web_browser", "1.0.0").orElseThrow();

  private final TestHosts hosts;
  private final Driver.Prepared prepared;

  private TestBrowser(TestHosts hosts) {
    this.hosts = hosts;
    this.prepared = new BrowserDriver(hosts.host()).prepare(MANIFEST, "visit", file -> new byte[0]);
  }

  static TestBrowser open(Optional<String> engine) {
    return new TestBrowser(TestHosts.open(SecretStore.none(), engine));
  }

  TestHosts hosts() {
    return hosts;
  }

  /** A call with these params, which are JSON; patient, unless they say how long to wait. */
  Call call(String params) {
    String patient =
        params.contains("timeout_ms") ? params : "{\"timeout_ms\":30000," + params.substring(1);
    return new Call(prepared)
        .sandbox("restricted")
        .params((JsonValue.Obj) Jcs.parse(patient.getBytes(StandardCharsets.UTF_8)))
        .memoryBytes(1L << 30)
        .outputBytes(4 << 20)
        .wallMs(60_000);
  }

  /** The page's markup alone, with these results. */
  Call html(String html, String more) {
    return call("{\"html\":" + quoted(html) + more + "}");
  }

  static String quoted(String text) {
    return new String(Jcs.write(JsonValue.of(text)), StandardCharsets.UTF_8);
  }

  static JsonValue.Obj output(DriverOutcome outcome) {
    return (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
  }

  static String text(DriverOutcome outcome, String member) {
    return output(outcome).get(member) instanceof JsonValue.Str s ? s.value() : "";
  }

  static long number(DriverOutcome outcome, String member) {
    return output(outcome).get(member) instanceof JsonValue.Num n ? (long) n.value() : -1;
  }

  /** What was logged, one line each. */
  static List<String> console(DriverOutcome outcome) {
    return output(outcome).get("console") instanceof JsonValue.Arr all
        ? all.items().stream()
            .map(JsonValue.Obj.class::cast)
            .map(one ->
                ((JsonValue.Str) one.get("type")).value()
                    + ": "
                    + ((JsonValue.Str) one.get("text")).value())
            .toList()
        : List.of();
  }

  /** The egress log of the one command. */
  static String egress(DriverOutcome outcome) {
    var commands = (JsonValue.Arr) outcome.observations().get("commands");
    return new String(
        Jcs.write(((JsonValue.Obj) commands.items().getFirst()).get("egress")),
        StandardCharsets.UTF_8);
  }

  static byte[] artifact(DriverOutcome outcome, String name) {
    return outcome.artifacts().stream()
        .filter(a -> a.name().equals(name))
        .findFirst()
        .orElseThrow()
        .bytes();
  }

  @Override
  public void close() {
    hosts.close();
  }
}

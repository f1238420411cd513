package dev.writ.cli;

import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/** A registry on loopback, and a script of ours in the place of npm, which tests may not need. */
final class NpmStandIn implements AutoCloseable {
  private final ConcurrentSkipListMap<String, byte[]> packages = new ConcurrentSkipListMap<>();
  private final HttpServer registry;

  private NpmStandIn(HttpServer registry) {
    this.registry = registry;
  }

  static NpmStandIn start() throws IOException {
    NpmStandIn npm =
        new NpmStandIn(
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    npm.registry.createContext(
        "/",
        exchange -> {
          byte[] found = npm.packages.get(exchange.getRequestURI().getPath().substring(1));
          byte[] body = found == null ? new byte[0] : found;
          exchange.sendResponseHeaders(
              found == null ? 404 : 200, body.length == 0 ? -1 : body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    npm.registry.start();
    link("node", Path.of("/usr/bin/node"));
    link("npm", Project.root().resolve("cli/src/test/resources/dev/writ/cli/npm/bin/npm-cli.js"));
    return npm;
  }

  /** A folder with {@code node} and the stand-in for {@code npm}. */
  static Path links() {
    return Project.root().resolve("cli/target/npm-links");
  }

  private static void link(String name, Path target) throws IOException {
    Files.createDirectories(links());
    if (!Files.isSymbolicLink(links().resolve(name))) {
      Files.createSymbolicLink(links().resolve(name), target);
    }
  }

  /** What a user's shell has. */
  Map<String, String> environment(Path home) {
    return Map.of(
        "PATH", links().toString(), "HOME", home.toString(), "npm_config_registry", address());
  }

  String address() {
    return "http://127.0.0.1:" + registry.getAddress().getPort();
  }

  /** The package {@code @acme/greeter}, whose program greets by a word. */
  void publish(String version, String word) throws IOException {
    publish(
        version,
        JsonValue.object()
            .put("package.json", "{\"bin\":{\"greeter\":\"dist/index.js\"}}")
            .put("dist/index.js", server(word))
            .build(),
        false);
  }

  void publish(String version, JsonValue.Obj files, boolean scripts) {
    answer(
        JsonValue.object()
            .put("version", version)
            .put("integrity", "sha512-" + version)
            .put("scripts", JsonValue.of(scripts))
            .put("files", files)
            .build());
  }

  /** What the registry says of {@code @acme/greeter}. */
  void answer(JsonValue.Obj said) {
    answer("@acme/greeter", said);
  }

  /** What the registry says of a package. */
  void answer(String name, JsonValue.Obj said) {
    packages.put(name, Jcs.write(said));
  }

  static String server(String word) throws IOException {
    return Files.readString(
            Project.root().resolve("cli/src/test/resources/dev/writ/cli/npm/greeter.js"))
        .replace("GREETING", word);
  }

  @Override
  public void close() {
    registry.stop(0);
  }
}

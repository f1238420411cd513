package dev.writ.sinks.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.neo4j.driver.AuthTokens;
import org.neo4j.driver.Driver;
import org.neo4j.driver.GraphDatabase;
import org.neo4j.driver.Record;

/**
 * Neo4j's own server, from Maven Central, with a disk of its own. It runs on the JDK of the tests
 * and listens to nothing but loopback.
 */
public final class Neo4jServer extends ServerProcess {
  private static final Path POM = Path.of("src/test/neo4j/pom.xml");
  private static final String GOAL =
      "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";

  private final Driver driver =
      GraphDatabase.driver("bolt://127.0.0.1:" + port(), AuthTokens.none());

  public Neo4jServer(Path dir) {
    super(dir);
    try {
      Path conf = Files.createDirectories(dir.resolve("conf"));
      Files.writeString(
          conf.resolve("neo4j.conf"),
          """
          server.bolt.listen_address=127.0.0.1:%d
          server.http.enabled=false
          server.https.enabled=false
          dbms.security.auth_enabled=false
          dbms.usage_report.enabled=false
          client.allow_telemetry=false
          server.memory.pagecache.size=16m
          db.tx_log.preallocate=false
          """
              .formatted(port()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected List<String> command() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "-cp",
        classPath(),
        "org.neo4j.server.Neo4jCommunity",
        "--home-dir=" + dir,
        "--config-dir=" + dir.resolve("conf"));
  }

  /** Resolved by Maven, which fetches what the local repository lacks. */
  private static String classPath() {
    Path module = Path.of(System.getProperty("writ.root"), "sinks");
    Path resolved = module.resolve("target/neo4j-classpath");
    try {
      if (!Files.exists(resolved)
          || Files.getLastModifiedTime(resolved)
                  .compareTo(Files.getLastModifiedTime(module.resolve(POM)))
              < 0) {
        resolve(module.resolve(POM), resolved);
      }
      return Files.readString(resolved);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void resolve(Path pom, Path to) throws IOException {
    String said = "";
    for (List<String> online : List.of(List.of("-o"), List.<String>of())) {
      List<String> command = new ArrayList<>(List.of("mvn", "-q", "-B"));
      command.addAll(online);
      command.addAll(List.of("-f", pom.toString(), GOAL, "-Dmdep.outputFile=" + to));
      Process maven = new ProcessBuilder(command).redirectErrorStream(true).start();
      said = new String(maven.getInputStream().readAllBytes());
      try {
        if (maven.waitFor() == 0) {
          return;
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    throw new IllegalStateException(said);
  }

  /** Asks the server itself, past any relay. */
  public List<Record> ask(String cypher, Map<String, Object> parameters) {
    return driver.executableQuery(cypher).withParameters(parameters).execute().records();
  }

  @Override
  public void close() {
    driver.close();
    super.close();
  }
}

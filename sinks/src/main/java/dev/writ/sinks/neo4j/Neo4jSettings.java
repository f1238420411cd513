package dev.writ.sinks.neo4j;

import dev.writ.sinks.feed.SinkSettings;
import java.util.Optional;

/**
 * Where a graph is.
 *
 * @param url {@code bolt://} or {@code neo4j://}, with {@code +s} for TLS
 * @param password absent for a server without authentication
 * @param database absent for the server's default one
 */
public record Neo4jSettings(
    String url, String user, Optional<String> password, Optional<String> database) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code GWY-002}
   */
  public static Neo4jSettings of(SinkSettings settings, Optional<String> password) {
    String url = settings.required("url");
    if (!url.matches("(bolt|neo4j)(\\+s)?://[A-Za-z0-9.:\\[\\]-]{1,250}")) {
      throw settings.wrong("url", "is no bolt:// or neo4j:// address without credentials");
    }
    Neo4jSettings made =
        new Neo4jSettings(
            url, settings.text("user").orElse("neo4j"), password, settings.text("database"));
    settings.end();
    return made;
  }

  /** The server and the database, without credentials. */
  @Override
  public String toString() {
    return database.map(name -> name + " at " + url).orElse(url);
  }
}

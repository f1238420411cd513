package dev.writ.cli.setup;

import dev.writ.cli.base.Session;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Where clients have the MCP servers of their user. */
public final class ServersPlaces {
  private ServersPlaces() {}

  /**
   * The files of one client, or of all that can be told.
   *
   * @throws dev.writ.canonicalize.WritException {@code CLI-001} for another client, {@code CLI-037}
   */
  public static List<Path> of(Session session, Optional<String> client) {
    ClientPlaces places =
        new ClientPlaces(
            ClientPlaces.Platform.of(System.getProperty("os.name")), session.environment());
    return client
        .map(SetupClient::of)
        .map(Stream::of)
        .orElseGet(() -> Stream.of(SetupClient.values()))
        .map(places::servers)
        .map(Path::of)
        .toList();
  }
}

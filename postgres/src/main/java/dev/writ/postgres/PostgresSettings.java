package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.postgres.error.PostgresError;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the rows of a log are, and how the database is used (spec/storage-postgres.md).
 *
 * @param hosts the servers, of which the primary is used; not resolved
 * @param schema the database's schema with our tables
 * @param cell the number of the log among those in the schema
 * @param tls {@code sslmode} and its files, as libpq names them
 * @param passwordFile holds the password alone; PGPASSFILE and ~/.pgpass are read without it
 * @param connections for reading, at most
 * @param patience how long a read or a write goes on trying while the database does not answer
 */
public record PostgresSettings(
    List<InetSocketAddress> hosts,
    String database,
    String user,
    String schema,
    int cell,
    SortedMap<String, String> tls,
    Optional<Path> passwordFile,
    int connections,
    Duration patience) {

  private static final int PORT = 5432;
  private static final Pattern ADDRESS =
      Pattern.compile("postgres(?:ql)?://([^@/?#]+)@([^@/?#]+)/([^@/?#]+)(?:\\?([^#]*))?");
  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9a-fA-F:.]+]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?");
  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  private static final Set<String> TLS = Set.of("sslmode", "sslrootcert", "sslcert", "sslkey");
  private static final Set<String> OTHERS =
      Set.of("schema", "cell", "passfile", "connections", "patience_s");
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  public PostgresSettings {
    hosts = List.copyOf(hosts);
    tls = new TreeMap<>(tls);
  }

  /**
   * Reads an address such as {@code
   * postgresql://writ@db.example:5432/writ?sslrootcert=/etc/ca.pem}.
   *
   * @throws WritException {@code PGS-001}
   */
  public static PostgresSettings parse(String address) {
    // The address is in no message: somebody may have written a password into it.
    Matcher whole = ADDRESS.matcher(address);
    if (!whole.matches()) {
      throw refused("it does not have this form");
    }
    if (whole.group(1).contains(":")) {
      throw refused("it has a password in it, which belongs into a file");
    }
    SortedMap<String, String> parameters = parameters(whole.group(4));
    List<InetSocketAddress> hosts = hosts(whole.group(2));
    String schema = parameters.getOrDefault("schema", "writ");
    if (!SCHEMA.matcher(schema).matches()) {
      throw refused("schema is not a name of a-z, 0-9 and _");
    }
    SortedMap<String, String> tls = new TreeMap<>(parameters);
    tls.keySet().retainAll(TLS);
    boolean isLocal = hosts.stream().allMatch(host -> LOOPBACK.contains(host.getHostString()));
    tls.putIfAbsent("sslmode", isLocal ? "prefer" : "verify-full");
    return new PostgresSettings(
        hosts,
        decoded(whole.group(3)),
        decoded(whole.group(1)),
        schema,
        number(parameters, "cell", 0, 0, 999_999),
        tls,
        Optional.ofNullable(parameters.get("passfile")).map(Path::of),
        number(parameters, "connections", 8, 1, 1000),
        Duration.ofSeconds(number(parameters, "patience_s", 30, 1, 3600)));
  }

  private static List<InetSocketAddress> hosts(String text) {
    List<InetSocketAddress> hosts = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      Matcher host = HOST.matcher(each);
      int port =
          !host.matches() ? 0 : host.group(2) == null ? PORT : Integer.parseInt(host.group(2));
      if (port < 1 || port > 65_535) {
        throw refused("it has a host or a port that is none");
      }
      hosts.add(InetSocketAddress.createUnresolved(host.group(1), port));
    }
    return hosts;
  }

  private static SortedMap<String, String> parameters(String query) {
    SortedMap<String, String> parameters = new TreeMap<>();
    for (String each : query == null || query.isEmpty() ? new String[0] : query.split("&", -1)) {
      int equals = each.indexOf('=');
      String name = equals < 0 ? "" : each.substring(0, equals);
      boolean isKnown = TLS.contains(name) || OTHERS.contains(name);
      if (!isKnown) {
        throw refused("it has a setting that is not known");
      }
      if (parameters.put(name, decoded(each.substring(equals + 1))) != null) {
        throw refused(name + " is given twice");
      }
    }
    return parameters;
  }

  private static int number(
      SortedMap<String, String> parameters, String name, int standard, int min, int max) {
    String text = parameters.getOrDefault(name, String.valueOf(standard));
    if (!text.matches("[0-9]{1,6}")
        || Integer.parseInt(text) < min
        || Integer.parseInt(text) > max) {
      throw refused(name + " is not a number from " + min + " to " + max);
    }
    return Integer.parseInt(text);
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw refused("it has a percent sign without two digits behind it");
    }
  }

  private static WritException refused(String found) {
    return new WritException(PostgresError.ADDRESS, found);
  }

  /** The same with the password in a file. */
  public PostgresSettings withPasswordFile(Path file) {
    return new PostgresSettings(
        hosts, database, user, schema, cell, tls, Optional.of(file), connections, patience);
  }

  /** The same for another log. */
  public PostgresSettings withCell(int number) {
    return new PostgresSettings(
        hosts, database, user, schema, number, tls, passwordFile, connections, patience);
  }

  /** The same with another patience. */
  public PostgresSettings withPatience(Duration time) {
    return new PostgresSettings(
        hosts, database, user, schema, cell, tls, passwordFile, connections, time);
  }

  /**
   * The password, read anew for each connection, so that it can be changed.
   *
   * @throws WritException {@code PGS-004}
   */
  Optional<String> password() {
    try {
      if (passwordFile.isPresent()) {
        requirePrivate(passwordFile.get());
        String password = Files.readString(passwordFile.get()).strip();
        if (password.isEmpty() || password.contains("\n")) {
          throw new WritException(
              PostgresError.PASSWORD_FILE, passwordFile.get() + " does not have one line");
        }
        return Optional.of(password);
      }
      Path shared = passFile();
      if (Files.exists(shared)) {
        requirePrivate(shared);
      }
      return Optional.empty();
    } catch (IOException e) {
      throw new WritException(
          PostgresError.PASSWORD_FILE,
          passwordFile.orElseGet(PostgresSettings::passFile) + ": " + e.getClass().getSimpleName(),
          e);
    }
  }

  /** The file that the driver looks into, as libpq does; it does not look at who may read it. */
  private static Path passFile() {
    String named = System.getenv("PGPASSFILE");
    return named == null ? Path.of(System.getProperty("user.home"), ".pgpass") : Path.of(named);
  }

  private static void requirePrivate(Path file) throws IOException {
    if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      for (PosixFilePermission permission : Files.getPosixFilePermissions(file)) {
        if (!permission.name().startsWith("OWNER")) {
          throw new WritException(PostgresError.PASSWORD_FILE, file + " is open to others");
        }
      }
    }
  }

  /** Names the log in messages. */
  @Override
  public String toString() {
    List<String> servers = new ArrayList<>();
    hosts.forEach(host -> servers.add(host.getHostString() + ":" + host.getPort()));
    return "cell "
        + cell
        + " of postgresql://"
        + user
        + "@"
        + String.join(",", servers)
        + "/"
        + database;
  }
}

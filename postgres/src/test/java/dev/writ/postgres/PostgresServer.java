package dev.writ.postgres;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.disk.ScratchDirectory;
import dev.writ.fixture.Await;
import dev.writ.sinks.testing.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** The PostgreSQL of the system's package, newest version, in a directory of its own. */
public final class PostgresServer extends ServerProcess {
  /** Of the role {@code guarded}; everybody else on this machine is let in without one. */
  static final String PASSWORD = "a pass'word of the tests";

  private static final Path VERSIONS = Path.of("/usr/lib/postgresql");

  /** Whose rights nobody needs: the server refuses to run as root. */
  private static final String USER = "nobody";

  private static PostgresServer shared;

  private final AtomicInteger cells = new AtomicInteger();
  private final List<String> options;

  /**
   * Makes a cluster with the database {@code writ} and the role of that name, and starts it.
   *
   * @param options of its configuration, each {@code name=value}
   */
  PostgresServer(String... options) {
    super(place());
    this.options = List.of(options);
    try {
      run(
          program(
              "initdb",
              "--pgdata=" + dir.resolve("data"),
              "--username=postgres",
              "--auth=trust",
              "--encoding=UTF8",
              "--no-locale",
              "--no-sync"));
      Files.writeString(
          data().resolve("pg_hba.conf"),
          """
          host all guarded,renewed 127.0.0.1/32 scram-sha-256
          host all all 127.0.0.1/32 trust
          host replication all 127.0.0.1/32 trust
          """);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start();
    // Not the superuser: what Writ does has to be allowed to the owner of a database.
    execute("postgres", "CREATE ROLE writ LOGIN");
    execute("postgres", "CREATE ROLE guarded LOGIN PASSWORD '" + PASSWORD.replace("'", "''") + "'");
    execute("postgres", "CREATE DATABASE writ OWNER writ");
  }

  /**
   * Which standbys have to have a commit, from the next one on; none of them may be there yet. A
   * session knows the setting before the process that has commits wait does.
   */
  void requireStandbys(String names) {
    execute("postgres", "ALTER SYSTEM SET synchronous_standby_names = '" + names + "'");
    execute("postgres", "SELECT pg_reload_conf()");
    Await.until(() -> commitWaits() != names.isEmpty());
  }

  /** Commits something; where that waits for a standby, it is cancelled. */
  private boolean commitWaits() {
    try (ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> commit =
          other.submit(() -> execute("writ", "SELECT pg_logical_emit_message(true, 'a test', '')"));
      while (!commit.isDone()) {
        List<String> waiting = waitingForStandby();
        if (!waiting.isEmpty()) {
          query("SELECT pg_cancel_backend(" + waiting.getFirst() + ")");
          return true;
        }
      }
      return false;
    }
  }

  /** Sessions whose commit waits for a standby. */
  List<String> waitingForStandby() {
    return query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  }

  /** A standby of a running server, before it is started. */
  private PostgresServer(PostgresServer primary, String name) {
    super(place());
    this.options = List.of();
    copy(primary, name);
  }

  /** Makes a standby, and starts it. */
  static PostgresServer standbyOf(PostgresServer primary, String name) {
    PostgresServer standby = new PostgresServer(primary, name);
    standby.start();
    return standby;
  }

  /** In place of all that it has; it must not run. */
  void becomeStandbyOf(PostgresServer primary, String name) {
    try {
      DurableFiles.deleteTree(data());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    copy(primary, name);
    start();
  }

  private void copy(PostgresServer primary, String name) {
    try {
      run(
          program(
              "pg_basebackup",
              "--pgdata=" + data(),
              "--dbname=" + primary.replication(name),
              "--checkpoint=fast",
              "--no-sync",
              "--write-recovery-conf"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How a standby connects. */
  private String replication(String name) {
    return "host=127.0.0.1 port=" + port() + " user=postgres application_name=" + name;
  }

  /** As a standby, from now on of this one. */
  void follow(PostgresServer primary, String name) {
    execute("postgres", "ALTER SYSTEM SET primary_conninfo = '" + primary.replication(name) + "'");
    execute("postgres", "SELECT pg_reload_conf()");
  }

  /** Makes a primary of a standby; returns when it writes. */
  void promote() {
    execute("postgres", "SELECT pg_promote()");
  }

  private static Path place() {
    try {
      Path place = ScratchDirectory.create("writ-postgres-");
      if (isRoot()) {
        Files.setOwner(
            place,
            place.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(USER));
      }
      return place;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One for all tests of this JVM that do it no harm. */
  public static synchronized PostgresServer shared() {
    if (shared == null) {
      PostgresServer server = new PostgresServer();
      Runtime.getRuntime().addShutdownHook(new Thread(server::close));
      shared = server;
    }
    return shared;
  }

  private static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  /** A program of the newest installed version, with fewer rights where this is root. */
  private static List<String> program(String name, String... arguments) {
    Path newest;
    try (Stream<Path> versions = Files.list(VERSIONS)) {
      newest =
          versions
              .filter(version -> version.getFileName().toString().matches("[0-9]+"))
              .max(
                  Comparator.comparing(
                      version -> Integer.valueOf(version.getFileName().toString())))
              .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
    if (isRoot()) {
      command.addAll(List.of("--reuid=" + USER, "--regid=nogroup", "--clear-groups"));
    }
    command.add(newest.resolve("bin").resolve(name).toString());
    command.addAll(List.of(arguments));
    return command;
  }

  private void run(List<String> command) throws IOException {
    Process running = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (ended(running) != 0) {
      throw new IllegalStateException(said);
    }
  }

  private static int ended(Process process) {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected List<String> command() {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "listen_addresses=127.0.0.1",
                "port=" + port(),
                "unix_socket_directories=" + dir,
                "dynamic_shared_memory_type=mmap",
                "shared_buffers=16MB",
                "max_wal_size=128MB",
                "min_wal_size=32MB",
                // A standby that follows a new primary asks for the segment in which it left the
                // old one.
                "wal_keep_size=128MB"));
    settings.addAll(options);
    List<String> command = program("postgres", "-D", data().toString());
    settings.forEach(setting -> command.addAll(List.of("-c", setting)));
    return command;
  }

  @Override
  protected boolean accepts() {
    try (Connection connection = connect("postgres")) {
      return connection.isValid(0);
    } catch (SQLException e) {
      return false;
    }
  }

  /** A number that no test of this server has used. */
  int newCell() {
    return cells.incrementAndGet();
  }

  /** Of a cell of its own, as a user writes it. */
  public URI newAddress() {
    return URI.create("postgresql://writ@127.0.0.1:" + port() + "/writ?cell=" + newCell());
  }

  /** A cell of its own. */
  public PostgresDatabase newDatabase() {
    return new PostgresDatabase(settings().withCell(newCell()), "a test");
  }

  PostgresSettings settings() {
    return settings(port());
  }

  /** Through something that listens on another port. */
  PostgresSettings settings(int throughPort) {
    return PostgresSettings.parse("postgresql://writ@127.0.0.1:" + throughPort + "/writ");
  }

  private Connection connect(String database) throws SQLException {
    if (Thread.currentThread().isInterrupted()) {
      throw new IllegalStateException("the test takes too long"); // it may ask again and again
    }
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:" + port() + "/" + database, "postgres", "");
  }

  /** Where the files of tables are, once what memory has of them was written there. */
  public Path tables() {
    execute("postgres", "CHECKPOINT");
    return data().resolve("base");
  }

  /** As the superuser. */
  public void execute(String database, String sql) {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The rows of a query in the database {@code writ}, as the superuser, columns between bars. */
  public List<String> query(String sql) {
    List<String> found = new ArrayList<>();
    try (Connection connection = connect("writ");
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
          row.append(i == 1 ? "" : "|").append(rows.getString(i));
        }
        found.add(row.toString());
      }
      return found;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** SIGKILL to all of its processes at once. */
  @Override
  public void kill() {
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly();
    children.forEach(ProcessHandle::destroyForcibly);
    ended(process);
    children.forEach(child -> child.onExit().join());
  }

  void pause() {
    signal("-STOP");
  }

  void resume() {
    signal("-CONT");
  }

  private void signal(String signal) {
    List<String> command = new ArrayList<>(List.of("kill", signal, String.valueOf(process.pid())));
    process.descendants().forEach(child -> command.add(String.valueOf(child.pid())));
    try {
      // A child may have ended meanwhile, which kill would mention.
      ended(
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where its files are. */
  Path data() {
    return dir.resolve("data");
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      resume();
      // At once, but so that it gives its shared memory back.
      signal("-QUIT");
      ended(process);
    }
    try {
      DurableFiles.deleteTree(dir);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.writ.sinks.neo4j;

import dev.writ.canonicalize.WritException;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.neo4j.driver.AuthToken;
import org.neo4j.driver.AuthTokens;
import org.neo4j.driver.Config;
import org.neo4j.driver.Driver;
import org.neo4j.driver.GraphDatabase;
import org.neo4j.driver.Record;
import org.neo4j.driver.SessionConfig;
import org.neo4j.driver.TransactionConfig;
import org.neo4j.driver.async.AsyncSession;
import org.neo4j.driver.async.AsyncTransaction;
import org.neo4j.driver.async.ResultCursor;
import org.neo4j.driver.exceptions.Neo4jException;
import org.neo4j.driver.exceptions.ServiceUnavailableException;
import org.neo4j.driver.exceptions.SessionExpiredException;

/**
 * A graph in Neo4j. Every node and relationship is merged by its identity, so that a second
 * delivery adds nothing. Each delivery is one transaction, in which a node of the sink's own
 * remembers the last record: a graph that was put back from a backup says how far it is.
 */
public final class Neo4jSink implements RecordSink {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);

  /** Without these a merge would read all nodes of its label. */
  private static final List<String> SCHEMA =
      List.of(
          "CREATE CONSTRAINT writ_exec_result IF NOT EXISTS"
              + " FOR (e:ExecResult) REQUIRE e.exec_id IS UNIQUE",
          "CREATE CONSTRAINT writ_exec_denial IF NOT EXISTS"
              + " FOR (d:ExecDenial) REQUIRE d.decision IS UNIQUE",
          // Nodes of others, too: no constraint, which theirs could break.
          "CREATE INDEX writ_case IF NOT EXISTS FOR (c:Case) ON (c.case_id)",
          "CREATE INDEX writ_subtask IF NOT EXISTS FOR (s:Subtask) ON (s.subtask_id)");

  private static final String LAST = "MATCH (w:WritSink {log: $log}) RETURN w.last AS last";

  /** The same at the beginning of a delivery, locked: nobody empties the graph within it. */
  private static final String LOCKED =
      "MERGE (w:WritSink {log: $log}) SET w.last = w.last RETURN w.last AS last";

  private static final String EXECUTIONS =
      """
      UNWIND $rows AS row
      MERGE (e:ExecResult {exec_id: row.exec_id})
      SET e += row.properties
      MERGE (c:Case {case_id: row.case_id})
      MERGE (e)-[:EXECUTED_FOR]->(c)
      FOREACH (id IN row.subtasks |
        MERGE (s:Subtask {subtask_id: id})
        MERGE (e)-[:EXECUTED_FOR]->(s))
      """;

  private static final String DENIALS =
      """
      UNWIND $rows AS row
      MERGE (d:ExecDenial {decision: row.evidence})
      SET d += row.properties
      MERGE (c:Case {case_id: row.case_id})
      MERGE (d)-[:DENIED_FOR]->(c)
      FOREACH (id IN row.subtasks |
        MERGE (s:Subtask {subtask_id: id})
        MERGE (d)-[:DENIED_FOR]->(s))
      """;

  private static final String REMEMBER = "MERGE (w:WritSink {log: $log}) SET w.last = $last";

  /** The driver's messages would go to the server's log of JSON lines; held, since JUL does not. */
  private static final Logger DRIVERS_OWN = Logger.getLogger("org.neo4j");

  static {
    DRIVERS_OWN.setLevel(Level.OFF);
  }

  private final Neo4jSettings settings;
  private final String log;
  private Driver driver;

  /** What the graph remembers as the last record. */
  private Optional<RecordId> last = Optional.empty();

  /**
   * @param log origin of the log whose records it gets
   */
  public Neo4jSink(Neo4jSettings settings, String log) {
    this.settings = settings;
    this.log = log;
  }

  @Override
  public Optional<RecordId> open() {
    AuthToken credentials =
        settings
            .password()
            .map(password -> AuthTokens.basic(settings.user(), password))
            .orElseGet(AuthTokens::none);
    driver =
        GraphDatabase.driver(
            settings.url(),
            credentials,
            Config.builder()
                .withConnectionTimeout(CONNECT_WITHIN.toMillis(), TimeUnit.MILLISECONDS)
                .withConnectionAcquisitionTimeout(CONNECT_WITHIN.toMillis(), TimeUnit.MILLISECONDS)
                .withMaxConnectionPoolSize(1)
                .withEventLoopThreads(1)
                .withTelemetryDisabled(true)
                .build());
    SCHEMA.forEach(statement ->
        ask(session -> session.runAsync(statement).thenCompose(ResultCursor::consumeAsync)));
    List<Record> found =
        ask(session ->
            session
                .runAsync(LAST, Map.<String, Object>of("log", log))
                .thenCompose(ResultCursor::listAsync));
    last = last(found);
    return last;
  }

  private static Optional<RecordId> last(List<Record> found) {
    return found.stream()
        .map(row -> row.get("last"))
        .filter(last -> !last.isNull())
        .findFirst()
        .map(last -> RecordId.parse(last.asString()));
  }

  @Override
  public void deliver(List<SinkRecord> records) {
    List<Map<String, Object>> executions =
        records.stream().filter(record -> !record.isDenial()).map(this::execution).toList();
    List<Map<String, Object>> denials =
        records.stream().filter(SinkRecord::isDenial).map(this::denial).toList();
    RecordId next = records.getLast().id();
    Map<String, Object> remembered = Map.of("log", log, "last", next.toString());
    TransactionConfig limit = TransactionConfig.builder().withTimeout(ANSWER_WITHIN).build();
    ask(session ->
        session
            .beginTransactionAsync(limit)
            .thenCompose(tx ->
                tx.runAsync(LOCKED, Map.<String, Object>of("log", log))
                    .thenCompose(ResultCursor::listAsync)
                    .thenAccept(this::requireWhole)
                    .thenCompose(_ -> run(tx, EXECUTIONS, Map.of("rows", executions)))
                    .thenCompose(_ -> run(tx, DENIALS, Map.of("rows", denials)))
                    .thenCompose(_ -> run(tx, REMEMBER, remembered))
                    .thenCompose(_ -> tx.commitAsync())));
    last = Optional.of(next);
  }

  /** Refuses to go on in a graph that was emptied since the last delivery. */
  private void requireWhole(List<Record> found) {
    if (!last(found).equals(last)) {
      throw new WritException(SinkError.REFUSED, settings + " has lost records");
    }
  }

  private static CompletionStage<?> run(
      AsyncTransaction transaction, String statement, Map<String, Object> parameters) {
    return transaction.runAsync(statement, parameters).thenCompose(ResultCursor::consumeAsync);
  }

  private Map<String, Object> execution(SinkRecord record) {
    TreeMap<String, Object> properties = common(record);
    properties.put("cmd", record.text("cmd"));
    properties.put("image", record.text("image"));
    String exit = record.text("rc");
    if (!exit.isEmpty()) {
      properties.put("exit_code", Long.parseLong(exit));
    }
    properties.put("duration_ms", Long.parseLong(record.text("duration_ms")));
    properties.put("artifacts_count", Long.parseLong(record.text("artifacts_count")));
    properties.put("receipt", record.evidence().toString());
    return row(record, properties);
  }

  private Map<String, Object> denial(SinkRecord record) {
    TreeMap<String, Object> properties = common(record);
    properties.put("exec_id", record.text("exec_id"));
    properties.put("code", record.text("stderr_tail"));
    return row(record, properties);
  }

  private static TreeMap<String, Object> common(SinkRecord record) {
    TreeMap<String, Object> properties = new TreeMap<>();
    properties.put("role", record.text("role"));
    properties.put("case_id", record.text("case_id"));
    properties.put("timestamp", Double.parseDouble(record.text("ts")));
    properties.put("tenant", record.scope().tenant());
    properties.put("subject", record.scope().subject());
    properties.put("position", record.id().index());
    return properties;
  }

  private static Map<String, Object> row(SinkRecord record, TreeMap<String, Object> properties) {
    String subtask = record.text("subtask_id");
    return Map.of(
        "exec_id",
        record.text("exec_id"),
        "evidence",
        record.evidence().toString(),
        "case_id",
        record.text("case_id"),
        "subtasks",
        subtask.isEmpty() ? List.of() : List.of(subtask),
        "properties",
        properties);
  }

  private interface Work<T> {
    CompletionStage<T> in(AsyncSession session);
  }

  /** Runs work in a session of its own, and waits no longer than {@link #ANSWER_WITHIN}. */
  private <T> T ask(Work<T> work) {
    SessionConfig.Builder config = SessionConfig.builder();
    settings.database().ifPresent(config::withDatabase);
    AsyncSession session = driver.session(AsyncSession.class, config.build());
    try {
      return work.in(session)
          .toCompletableFuture()
          .get(ANSWER_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw refused(e.getCause());
    } catch (TimeoutException e) {
      throw refused(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw refused(e);
    } finally {
      session.closeAsync();
    }
  }

  private WritException refused(Throwable e) {
    if (e instanceof WritException known) {
      return known;
    }
    boolean answered =
        e instanceof Neo4jException
            && !(e instanceof ServiceUnavailableException)
            && !(e instanceof SessionExpiredException);
    return answered
        ? new WritException(SinkError.REFUSED, settings + ": " + ((Neo4jException) e).code(), e)
        : new WritException(
            SinkError.UNREACHABLE, settings + ": " + e.getClass().getSimpleName(), e);
  }

  @Override
  public void close() {
    if (driver == null) {
      return;
    }
    try {
      driver.closeAsync().toCompletableFuture().get(CLOSE_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // Its threads are daemons, and end with their connection.
    }
  }
}

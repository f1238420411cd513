package dev.writ.sinks.redis;

import dev.writ.canonicalize.WritException;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateAdapter;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.XTrimArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A Redis stream, one entry for each record, under the record's id. Redis refuses an id that is not
 * greater than the last one: a record that comes again is refused and counts as delivered. So no
 * record may be refused for another reason and a later one taken, which is why each delivery is one
 * transaction: all of its entries or none.
 */
public final class RedisSink implements RecordSink {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);
  private static final Duration TRIM_EVERY = Duration.ofMinutes(1);
  private static final long TRIMMED_AT_ONCE = 500;

  /** The beginning of Redis's refusal of an id that is not greater than the last one. */
  private static final String REPEATED = "ERR The ID specified in XADD is equal or smaller";

  /** Lettuce's messages would go to the server's log of JSON lines; held, since JUL does not. */
  private static final Logger DRIVERS_OWN = Logger.getLogger("io.lettuce");

  static {
    DRIVERS_OWN.setLevel(Level.OFF);
  }

  private final RedisSettings settings;
  private final String log;
  private final InstantSource clock;
  private final ClientResources resources;

  /**
   * Completes when the connection is lost: Lettuce would leave unsent commands to their time-out.
   */
  private final CompletableFuture<Void> lost = new CompletableFuture<>();

  private RedisClient client;
  private StatefulRedisConnection<String, String> connection;
  private Instant trimmed = Instant.EPOCH;

  /** From then on a stream that is gone is not made anew: it would begin in the middle. */
  private boolean begun;

  /**
   * @param log origin of the log whose records it gets
   */
  public RedisSink(RedisSettings settings, String log, InstantSource clock) {
    this.settings = settings;
    this.log = log;
    this.clock = clock;
    this.resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(2) // Lettuce takes no fewer
            .computationThreadPoolSize(2)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .build();
  }

  @Override
  public Optional<RecordId> open() {
    return asked(() -> {
      client = RedisClient.create(resources, settings.uri(ANSWER_WITHIN));
      client.setOptions(
          ClientOptions.builder()
              .autoReconnect(false)
              .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
              .protocolVersion(ProtocolVersion.RESP2)
              .socketOptions(
                  SocketOptions.builder().connectTimeout(CONNECT_WITHIN).keepAlive(true).build())
              .build());
      client.addListener(
          new RedisConnectionStateAdapter() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> ended) {
              lost.complete(null);
            }
          });
      connection = client.connect();
      requireOwn();
      Optional<RecordId> last = last();
      begun = last.isPresent();
      return last;
    });
  }

  /** Marks the stream as this log's, or refuses one that is another's. */
  private void requireOwn() {
    String key = settings.stream() + ":log";
    connection.sync().set(key, log, SetArgs.Builder.nx());
    String owner = connection.sync().get(key);
    if (!log.equals(owner)) {
      throw new WritException(
          SinkError.OTHER_LOG, settings + " is of " + owner + ", not of " + log);
    }
  }

  private Optional<RecordId> last() {
    RedisCommands<String, String> redis = connection.sync();
    if (redis.exists(settings.stream()) == 0) {
      return Optional.empty();
    }
    List<Object> info = redis.xinfoStream(settings.stream());
    for (int i = 0; i + 1 < info.size(); i += 2) {
      if ("last-generated-id".equals(info.get(i))) {
        RecordId last = RecordId.parse(String.valueOf(info.get(i + 1)));
        return last.incarnation() == 0 ? Optional.empty() : Optional.of(last);
      }
    }
    throw new WritException(SinkError.REFUSED, settings + ": XINFO states no last-generated-id");
  }

  @Override
  public void deliver(List<SinkRecord> records) {
    asked(() -> {
      add(records);
      trimByAge(records.getLast().at());
      return null;
    });
  }

  private void add(List<SinkRecord> records)
      throws ExecutionException, InterruptedException, TimeoutException {
    RedisAsyncCommands<String, String> redis = connection.async();
    connection.setAutoFlushCommands(false);
    List<RedisFuture<String>> added = new ArrayList<>();
    RedisFuture<TransactionResult> all;
    try {
      redis.multi();
      for (SinkRecord record : records) {
        XAddArgs args = new XAddArgs().id(record.id().toString());
        if (begun) {
          args.nomkstream();
        }
        settings.maxlen().ifPresent(most -> args.maxlen(most).approximateTrimming());
        added.add(redis.xadd(settings.stream(), args, record.texts()));
      }
      all = redis.exec();
      connection.flushCommands();
    } finally {
      connection.setAutoFlushCommands(true);
    }
    Optional<RedisException> whole = failure(all);
    for (RedisFuture<String> one : added) {
      Optional<RedisException> refused =
          failure(one).filter(e -> !String.valueOf(e.getMessage()).startsWith(REPEATED));
      if (refused.isPresent()) { // it says more than that the transaction was discarded
        throw refused.get();
      }
    }
    if (whole.isPresent()) {
      throw whole.get();
    }
    for (RedisFuture<String> one : added) {
      if (!one.toCompletableFuture().isCompletedExceptionally()
          && one.toCompletableFuture().resultNow() == null) {
        throw new WritException(SinkError.REFUSED, settings + " is gone");
      }
    }
    begun = true;
  }

  private Optional<RedisException> failure(RedisFuture<?> answer)
      throws InterruptedException, TimeoutException {
    try {
      CompletableFuture.anyOf(answer.toCompletableFuture(), lost)
          .get(ANSWER_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
      if (!answer.isDone()) {
        return Optional.of(new RedisException("disconnected"));
      }
      answer.get();
      return Optional.empty();
    } catch (ExecutionException e) {
      return Optional.of(
          e.getCause() instanceof RedisException redis ? redis : new RedisException(e.getCause()));
    }
  }

  /**
   * Removes entries whose own time says that they are too old. How old is counted from the record
   * that was added last where the clock is ahead of it: a clock that leapt would remove them all.
   */
  private void trimByAge(Instant added) {
    OptionalLong keep = settings.keepSeconds();
    Instant now = clock.instant();
    boolean isTime = now.isBefore(trimmed) || !now.isBefore(trimmed.plus(TRIM_EVERY));
    if (keep.isEmpty() || !isTime) {
      return;
    }
    trimmed = now;
    Instant latest = now.isBefore(added) ? now : added;
    double before = latest.toEpochMilli() / 1000.0 - keep.getAsLong();
    RedisCommands<String, String> redis = connection.sync();
    while (true) {
      List<StreamMessage<String, String>> oldest =
          redis.xrange(settings.stream(), Range.unbounded(), Limit.from(TRIMMED_AT_ONCE));
      Optional<StreamMessage<String, String>> young =
          oldest.stream().filter(m -> time(m) >= before).findFirst();
      if (young.isPresent()) {
        redis.xtrim(settings.stream(), XTrimArgs.Builder.minId(young.get().getId()));
        return;
      }
      if (oldest.isEmpty()) {
        return;
      }
      redis.xtrim(settings.stream(), XTrimArgs.Builder.minId(behind(oldest.getLast())));
    }
  }

  private static String behind(StreamMessage<String, String> message) {
    RecordId id = RecordId.parse(message.getId());
    return new RecordId(id.incarnation(), id.index() + 1).toString();
  }

  private static double time(StreamMessage<String, String> message) {
    return Double.parseDouble(message.getBody().getOrDefault("ts", "0"));
  }

  private interface Work<T> {
    T run() throws ExecutionException, InterruptedException, TimeoutException;
  }

  private <T> T asked(Work<T> work) {
    try {
      return work.run();
    } catch (RedisCommandExecutionException e) {
      throw new WritException(SinkError.REFUSED, settings + ": " + firstWord(e), e);
    } catch (RedisException | TimeoutException | ExecutionException e) {
      Optional<RedisCommandExecutionException> said = said(e);
      throw said.isPresent()
          ? new WritException(SinkError.REFUSED, settings + ": " + firstWord(said.get()), e)
          : new WritException(
              SinkError.UNREACHABLE, settings + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(SinkError.UNREACHABLE, "interrupted", e);
    }
  }

  /** What Redis itself answered, such as to a password: a connection that fails by it wraps it. */
  private static Optional<RedisCommandExecutionException> said(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof RedisCommandExecutionException said) {
        return Optional.of(said);
      }
    }
    return Optional.empty();
  }

  /** Redis begins each error with a word for its kind: OOM, NOAUTH, READONLY. */
  private static String firstWord(RedisException e) {
    return String.valueOf(e.getMessage()).split("[^A-Z0-9]", 2)[0];
  }

  /** One after the other: the threads that end a connection must still be there. */
  @Override
  public void close() {
    if (connection != null) {
      await(connection.closeAsync());
    }
    if (client != null) {
      await(client.shutdownAsync(0, CLOSE_WITHIN.toMillis(), TimeUnit.MILLISECONDS));
    }
    resources.shutdown(0, CLOSE_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static void await(CompletableFuture<?> end) {
    try {
      end.get(CLOSE_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // Its threads are daemons, and end with their connection.
    }
  }
}

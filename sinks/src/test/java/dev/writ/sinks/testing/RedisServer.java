package dev.writ.sinks.testing;

import dev.writ.fixture.Await;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The redis-server of the system's package, with a disk of its own. */
public final class RedisServer extends ServerProcess {
  private final List<String> options;

  /**
   * @param options of the command line beside those that every test needs
   */
  public RedisServer(Path dir, String... options) {
    super(dir);
    this.options = List.of(options);
  }

  @Override
  protected List<String> command() {
    List<String> command =
        new ArrayList<>(
            List.of("redis-server", "--bind", "127.0.0.1", "--port", String.valueOf(port())));
    command.addAll(List.of("--save", "", "--appendonly", "yes", "--appendfsync", "always"));
    command.addAll(options);
    return command;
  }

  /** Returns when it has read its disk, too: until then it refuses all but a few commands. */
  @Override
  public void start() {
    super.start();
    Await.until(() -> !this.<String>ask(redis -> redis.info("persistence")).contains("loading:1"));
  }

  public String url() {
    return "redis://127.0.0.1:" + port();
  }

  /** Deletes what it has on its disk; it must not run. */
  public void loseDisk() {
    try (var files = Files.walk(dir)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Asks the server itself, past any relay. */
  public <T> T ask(Function<RedisCommands<String, String>, T> question) {
    try (RedisClient client = RedisClient.create(url());
        StatefulRedisConnection<String, String> connection = client.connect()) {
      return question.apply(connection.sync());
    }
  }
}

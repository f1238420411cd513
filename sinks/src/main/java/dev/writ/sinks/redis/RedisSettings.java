package dev.writ.sinks.redis;

import dev.writ.sinks.feed.SinkSettings;
import dev.writ.surfaces.tools.ToolsSurface;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Where a Redis stream is.
 *
 * @param url {@code redis://} or {@code rediss://}; it may hold credentials if it comes from the
 *     environment
 * @param user with the password; absent for Redis's default user
 * @param password from a file; absent for that of the URL, if any
 * @param stream the stream's key
 * @param maxlen about how many entries stay
 * @param keepSeconds how long entries stay
 */
public record RedisSettings(
    String url,
    Optional<String> user,
    Optional<String> password,
    String stream,
    OptionalLong maxlen,
    OptionalLong keepSeconds) {
  /** Seed 002's own variable, which overrides the file's {@code url}. */
  public static final String URL_VARIABLE = "REDIS_URL";

  /**
   * @param fromEnvironment the value of {@link #URL_VARIABLE}
   * @throws dev.writ.canonicalize.WritException {@code GWY-002}
   */
  public static RedisSettings of(
      SinkSettings settings, Optional<String> fromEnvironment, Optional<String> password) {
    Optional<String> inFile = settings.text("url");
    inFile
        .filter(url -> url.contains("@"))
        .ifPresent(_ -> {
          throw settings.wrong("url", "holds credentials; name a file by `secret`");
        });
    String url =
        fromEnvironment
            .or(() -> inFile)
            .orElseThrow(() -> settings.wrong("url", "is missing, and REDIS_URL is not set"));
    try {
      RedisURI.create(url);
    } catch (IllegalArgumentException e) {
      throw settings.wrong("url", "is no redis:// or rediss:// address");
    }
    RedisSettings made =
        new RedisSettings(
            url,
            settings.text("user"),
            password,
            settings.text("stream").orElse(ToolsSurface.STREAM),
            settings.count("maxlen"),
            settings.count("keep_s"));
    settings.end();
    return made;
  }

  RedisURI uri(Duration timeout) {
    RedisURI uri = RedisURI.create(url);
    uri.setTimeout(timeout);
    uri.setClientName("writ");
    password.ifPresent(secret ->
        uri.setCredentialsProvider(
            RedisCredentialsProvider.from(() -> RedisCredentials.just(user.orElse(null), secret))));
    return uri;
  }

  /** The stream and its server, without credentials. */
  @Override
  public String toString() {
    RedisURI uri = RedisURI.create(url);
    return stream
        + " at "
        + (uri.isSsl() ? "rediss://" : "redis://")
        + uri.getHost()
        + ":"
        + uri.getPort()
        + "/"
        + uri.getDatabase();
  }
}

package dev.writ.sinks;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.config.AlertThresholds;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.Secrets;
import dev.writ.gateway.config.SinkConfig;
import dev.writ.gateway.error.GatewayError;
import dev.writ.sinks.feed.MessageFeed;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkSettings;
import dev.writ.sinks.file.FileSettings;
import dev.writ.sinks.file.FileSink;
import dev.writ.sinks.file.OutcomeFolder;
import dev.writ.sinks.mail.MailSettings;
import dev.writ.sinks.mail.MailSink;
import dev.writ.sinks.neo4j.Neo4jSettings;
import dev.writ.sinks.neo4j.Neo4jSink;
import dev.writ.sinks.redis.RedisSettings;
import dev.writ.sinks.redis.RedisSink;
import dev.writ.sinks.slack.SlackSettings;
import dev.writ.sinks.slack.SlackSink;
import dev.writ.sinks.webhook.WebhookSettings;
import dev.writ.sinks.webhook.WebhookSink;
import dev.writ.surfaces.tools.ToolsSurface;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A sink that a configuration names. A new kind of sink is one class and one case here.
 *
 * @param target the place without credentials, for people
 * @param tenant the tenant whose records it gets; absent for all
 * @param messages for a sink that gets incidents or notices; absent for all others
 * @param outcomes the format of a sink that gets what became of every request; absent for all
 *     others
 * @param files the digest of what the files that it names hold: its secret, its key, its
 *     authorities
 * @param connection makes a sink that is not open, from the log's origin
 */
public record ConfiguredSink(
    String name,
    String kind,
    String target,
    Optional<String> tenant,
    Optional<MessageFeed> messages,
    Optional<String> outcomes,
    Digest files,
    Function<String, RecordSink> connection) {
  private static final String REDIS = "redis";

  /** The settings of all kinds that are names of files which a sink reads. */
  private static final List<String> NAMES_OF_FILES = List.of("ca", "key");

  private static final String PASSPHRASE = "WRIT_PASSPHRASE";

  /**
   * The sinks of a configuration, by name. Where the surface {@code tools} is served and seed 002's
   * variable {@code REDIS_URL} is set, there is a sink named {@code redis} even if the file has
   * none of that kind.
   *
   * @param folder to which file names are relative
   * @throws WritException {@code GWY-002}, {@code GWY-005}
   */
  public static List<ConfiguredSink> of(
      GatewayConfig config, Map<String, String> environment, Path folder, InstantSource clock) {
    TreeMap<String, SinkConfig> all = new TreeMap<>(config.extras().sinks());
    Optional<String> url =
        Optional.ofNullable(environment.get(RedisSettings.URL_VARIABLE))
            .filter(text -> !text.isEmpty());
    boolean served = config.surfaces().containsKey(ToolsSurface.NAME);
    boolean named = all.values().stream().anyMatch(sink -> sink.kind().equals(REDIS));
    if (url.isPresent() && served && !named) {
      all.put(REDIS, new SinkConfig(REDIS, Optional.empty(), Optional.empty(), new TreeMap<>()));
    }
    List<ConfiguredSink> sinks =
        all.entrySet().stream()
            .map(entry ->
                of(
                    entry.getKey(),
                    entry.getValue(),
                    url,
                    () -> passphrase(environment),
                    config.extras().alerts(),
                    folder,
                    clock))
            .toList();
    requireTargetsOfTheirOwn(sinks);
    return sinks;
  }

  /** Of an encrypted key that signs statements; null where there is none. */
  private static char[] passphrase(Map<String, String> environment) {
    String value = environment.getOrDefault(PASSPHRASE, "");
    return value.isEmpty() ? null : value.toCharArray();
  }

  /**
   * Two sinks would hide each other's records: a target takes only later ones than its last. A
   * receiver of webhooks takes each incident by its id.
   */
  private static void requireTargetsOfTheirOwn(List<ConfiguredSink> sinks) {
    TreeMap<String, String> owners = new TreeMap<>();
    for (ConfiguredSink sink : sinks.stream().filter(s -> s.messages.isEmpty()).toList()) {
      String other = owners.put(sink.target, sink.name);
      if (other != null) {
        throw new WritException(
            GatewayError.CONFIG_FIELD,
            "sinks/" + sink.name + " has the target of sinks/" + other + ": " + sink.target);
      }
    }
  }

  private static ConfiguredSink of(
      String name,
      SinkConfig config,
      Optional<String> redisUrl,
      Supplier<char[]> passphrase,
      AlertThresholds alerts,
      Path folder,
      InstantSource clock) {
    SinkSettings settings = new SinkSettings(name, config.settings());
    Digest files = files(config, folder); // first: what changes meanwhile is another one later
    Optional<String> secret =
        config
            .secret()
            .map(file -> new String(Secrets.read(folder.resolve(file)), StandardCharsets.UTF_8));
    return switch (config.kind()) {
      case REDIS -> {
        RedisSettings redis = RedisSettings.of(settings, redisUrl, secret);
        yield made(name, config, files, redis, log -> new RedisSink(redis, log, clock));
      }
      case "neo4j" -> {
        Neo4jSettings graph = Neo4jSettings.of(settings, secret);
        yield made(name, config, files, graph, log -> new Neo4jSink(graph, log));
      }
      case "file" -> {
        FileSettings file = FileSettings.of(settings, folder, passphrase);
        yield new ConfiguredSink(
            name,
            config.kind(),
            file.toString(),
            config.tenant(),
            Optional.empty(),
            file.records(),
            files,
            log -> file.isFolder() ? new OutcomeFolder(file, log) : new FileSink(file, log));
      }
      case "webhook" -> {
        WebhookSettings hook = WebhookSettings.of(settings, folder, secret, alerts);
        yield told(name, config, files, hook, hook.feed(), _ -> new WebhookSink(hook, clock));
      }
      case "slack" -> {
        SlackSettings chat = SlackSettings.of(settings, folder, secret);
        yield told(name, config, files, chat, chat.feed(), _ -> new SlackSink(chat, clock));
      }
      case "mail" -> {
        MailSettings mail = MailSettings.of(settings, folder, secret);
        yield told(name, config, files, mail, mail.feed(), _ -> new MailSink(mail));
      }
      default ->
          throw new WritException(
              GatewayError.CONFIG_FIELD,
              "sinks/"
                  + name
                  + "/kind \""
                  + config.kind()
                  + "\" is none of file, mail, neo4j, redis, slack, webhook");
    };
  }

  private static Digest files(SinkConfig config, Path folder) {
    StringBuilder digests = new StringBuilder();
    Stream.concat(
            config.secret().stream(),
            NAMES_OF_FILES.stream().map(config.settings()::get).filter(Objects::nonNull))
        .forEach(file -> {
          try {
            digests.append(Digest.sha256(Files.readAllBytes(folder.resolve(file))));
          } catch (IOException e) {
            digests.append(file); // whoever uses it says what is wrong with it
          }
          digests.append('\n');
        });
    return Digest.sha256(digests.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static ConfiguredSink made(
      String name,
      SinkConfig config,
      Digest files,
      Object target,
      Function<String, RecordSink> connection) {
    return new ConfiguredSink(
        name,
        config.kind(),
        target.toString(),
        config.tenant(),
        Optional.empty(),
        Optional.empty(),
        files,
        connection);
  }

  /** A sink that gets messages. */
  private static ConfiguredSink told(
      String name,
      SinkConfig config,
      Digest files,
      Object target,
      MessageFeed feed,
      Function<String, RecordSink> connection) {
    return new ConfiguredSink(
        name,
        config.kind(),
        target.toString(),
        config.tenant(),
        Optional.of(feed),
        Optional.empty(),
        files,
        connection);
  }
}

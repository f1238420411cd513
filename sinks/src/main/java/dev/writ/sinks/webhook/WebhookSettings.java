package dev.writ.sinks.webhook;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.gateway.config.AlertThresholds;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.sinks.feed.MessageFeed;
import dev.writ.sinks.feed.SinkSettings;
import dev.writ.sinks.incident.Alert;
import dev.writ.sinks.incident.IncidentFeed;
import dev.writ.sinks.notice.NoticeFeed;
import dev.writ.sinks.post.PostSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Where incidents or notices are sent.
 *
 * @param about which of the two
 * @param key signs what is sent
 * @param token of the receiver's, sent as a bearer token
 * @param feed which of them it gets
 */
public record WebhookSettings(
    PostSettings post, CloudEvent about, SigningKey key, Optional<String> token, MessageFeed feed) {
  private static final long GIVE_UP_S = 86_400;

  /**
   * @param folder to which the key's file is relative
   * @throws WritException {@code GWY-002}; {@code CAN-070} to {@code CAN-077} for the key
   */
  public static WebhookSettings of(
      SinkSettings settings, Path folder, Optional<String> token, AlertThresholds alerts) {
    PostSettings post = PostSettings.of(settings, "url", settings.required("url"), folder);
    SigningKey key = KeyFiles.read(folder.resolve(settings.required("key")), () -> null);
    if (key.algorithm() != Algorithm.ED25519) {
      throw settings.wrong("key", "is no Ed25519 key");
    }
    CloudEvent about = about(settings);
    WebhookSettings made =
        new WebhookSettings(
            post,
            about,
            key,
            token,
            switch (about) {
              case INCIDENT -> incidents(settings, alerts);
              case APPROVAL -> NoticeFeed.of(settings);
            });
    settings.end();
    return made;
  }

  private static CloudEvent about(SinkSettings settings) {
    return switch (settings.text("of").orElse("incidents")) {
      case "incidents" -> CloudEvent.INCIDENT;
      case "approvals" -> CloudEvent.APPROVAL;
      default -> throw settings.wrong("of", "is none of approvals, incidents");
    };
  }

  private static IncidentFeed incidents(SinkSettings settings, AlertThresholds alerts) {
    return new IncidentFeed(
        kinds(settings), alerts, Duration.ofSeconds(settings.count("give_up_s").orElse(GIVE_UP_S)));
  }

  private static SortedSet<String> kinds(SinkSettings settings) {
    TreeSet<String> kinds = new TreeSet<>();
    settings.text("kinds").ifPresent(text -> kinds.addAll(Arrays.asList(text.split(" "))));
    TreeSet<String> known = new TreeSet<>();
    Stream.concat(Stream.of(IncidentKind.values()), Stream.of(Alert.values()))
        .forEach(kind -> known.add(kind.name()));
    if (!known.containsAll(kinds)) {
      throw settings.wrong("kinds", "has a word that is none of " + String.join(", ", known));
    }
    return kinds;
  }

  /** The address without its query, which may hold a secret of the receiver's. */
  @Override
  public String toString() {
    return post.toString();
  }
}

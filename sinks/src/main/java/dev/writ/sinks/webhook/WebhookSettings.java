package dev.writ.sinks.webhook;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.sinks.feed.SinkSettings;
import dev.writ.sinks.incident.Alert;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/**
 * Where incidents are sent.
 *
 * @param url {@code https://}, or {@code http://} on loopback
 * @param key signs what is sent
 * @param token of the receiver's, sent as a bearer token
 * @param kinds words of incidents; empty for all
 * @param giveUpAfter how long an incident is tried
 * @param answerWithin how long an answer may take
 * @param authorities whose certificates are trusted; absent for those of the JDK
 */
public record WebhookSettings(
    URI url,
    SigningKey key,
    Optional<String> token,
    SortedSet<String> kinds,
    Duration giveUpAfter,
    Duration answerWithin,
    Optional<SSLContext> authorities) {
  private static final long GIVE_UP_S = 86_400;
  private static final long ANSWER_S = 15;
  private static final long ANSWER_S_MAX = 300;

  /** Without a fragment, and without the credentials that some put before the host. */
  private static final String FORM = "https?://[A-Za-z0-9.:\\[\\]-]{1,250}(/[!-~&&[^#]]{0,1000})?";

  /**
   * @param folder to which the key's file is relative
   * @throws WritException {@code GWY-002}; {@code CAN-070} to {@code CAN-077} for the key
   */
  public static WebhookSettings of(SinkSettings settings, Path folder, Optional<String> token) {
    String url = settings.required("url");
    if (!url.matches(FORM)) {
      throw settings.wrong("url", "is no https:// address without credentials and fragment");
    }
    URI address = URI.create(url);
    if (address.getHost() == null
        || address.getScheme().equals("http") && !Hosts.isLoopback(address.getHost())) {
      throw settings.wrong("url", "is http:// and not on loopback");
    }
    SigningKey key = KeyFiles.read(folder.resolve(settings.required("key")), () -> null);
    if (key.algorithm() != Algorithm.ED25519) {
      throw settings.wrong("key", "is no Ed25519 key");
    }
    WebhookSettings made =
        new WebhookSettings(
            address,
            key,
            token,
            kinds(settings),
            Duration.ofSeconds(settings.count("give_up_s").orElse(GIVE_UP_S)),
            answerWithin(settings),
            settings.text("ca").map(file -> authorities(settings, folder.resolve(file))));
    settings.end();
    return made;
  }

  private static Duration answerWithin(SinkSettings settings) {
    long seconds = settings.count("answer_s").orElse(ANSWER_S);
    if (seconds > ANSWER_S_MAX) {
      throw settings.wrong("answer_s", "is more than " + ANSWER_S_MAX);
    }
    return Duration.ofSeconds(seconds);
  }

  /** Trusts the certificates of that file alone. */
  private static SSLContext authorities(SinkSettings settings, Path file) {
    try {
      return TlsAuthorities.trusting(Files.readAllBytes(file));
    } catch (IOException | CertificateException e) {
      throw settings.wrong("ca", "is no file of certificates in PEM");
    }
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
    return url.getScheme() + "://" + url.getRawAuthority() + url.getRawPath();
  }
}

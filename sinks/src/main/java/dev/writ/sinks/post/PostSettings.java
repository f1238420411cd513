package dev.writ.sinks.post;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.gateway.http.Hosts;
import dev.writ.sinks.feed.SinkSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * Where messages are posted.
 *
 * @param url {@code https://}, or {@code http://} on loopback
 * @param answerWithin how long an answer may take
 * @param authorities whose certificates are trusted; absent for those of the JDK
 */
public record PostSettings(URI url, Duration answerWithin, Optional<SSLContext> authorities) {
  private static final long ANSWER_S = 15;
  private static final long ANSWER_S_MAX = 300;

  /** Without a fragment, and without the credentials that some put before the host. */
  private static final String FORM = "https?://[A-Za-z0-9.:\\[\\]-]{1,250}(/[!-~&&[^#]]{0,1000})?";

  /**
   * Reads {@code answer_s} and {@code ca}.
   *
   * @param from the setting that the address is from
   * @param folder to which the file of authorities is relative
   * @throws WritException {@code GWY-002}, without the address
   */
  public static PostSettings of(SinkSettings settings, String from, String url, Path folder) {
    if (!url.matches(FORM)) {
      throw settings.wrong(from, "is no https:// address without credentials and fragment");
    }
    URI address = URI.create(url);
    if (address.getHost() == null
        || address.getScheme().equals("http") && !Hosts.isLoopback(address.getHost())) {
      throw settings.wrong(from, "is http:// and not on loopback");
    }
    return new PostSettings(address, answerWithin(settings), authorities(settings, folder));
  }

  /** Reads {@code answer_s}. */
  public static Duration answerWithin(SinkSettings settings) {
    long seconds = settings.count("answer_s").orElse(ANSWER_S);
    if (seconds > ANSWER_S_MAX) {
      throw settings.wrong("answer_s", "is more than " + ANSWER_S_MAX);
    }
    return Duration.ofSeconds(seconds);
  }

  /** Reads {@code ca}: the certificates of that file alone are trusted. */
  public static Optional<SSLContext> authorities(SinkSettings settings, Path folder) {
    return settings
        .text("ca")
        .map(file -> {
          try {
            return TlsAuthorities.trusting(Files.readAllBytes(folder.resolve(file)));
          } catch (IOException | CertificateException e) {
            throw settings.wrong("ca", "is no file of certificates in PEM");
          }
        });
  }

  /** The address without its query, which may hold a secret of the receiver's. */
  @Override
  public String toString() {
    return url.getScheme() + "://" + url.getRawAuthority() + url.getRawPath();
  }
}

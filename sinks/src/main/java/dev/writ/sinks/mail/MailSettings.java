package dev.writ.sinks.mail;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.Hosts;
import dev.writ.sinks.feed.SinkSettings;
import dev.writ.sinks.notice.NoticeFeed;
import dev.writ.sinks.notice.NoticeText;
import dev.writ.sinks.post.PostSettings;
import jakarta.mail.internet.AddressException;
import jakarta.mail.internet.InternetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;

/**
 * A server that takes mail (RFC 5321), and for whom.
 *
 * @param login where the server asks for one
 * @param answerWithin how long each answer may take
 * @param authorities whose certificates are trusted; absent for those of the JDK
 */
public record MailSettings(
    String host,
    int port,
    Tls tls,
    Optional<Login> login,
    InternetAddress from,
    List<InternetAddress> to,
    Duration answerWithin,
    Optional<SSLContext> authorities,
    NoticeFeed feed,
    NoticeText text) {
  private static final int RECEIVERS_MAX = 100;
  private static final int PORT_MAX = 65_535;

  /** How the connection is protected (RFC 8314). */
  enum Tls {
    IMPLICIT(465),
    STARTTLS(587),
    /** On loopback alone. */
    NONE(25);

    private final int port;

    Tls(int port) {
      this.port = port;
    }
  }

  record Login(String user, String password) {
    @Override
    public String toString() {
      return user;
    }
  }

  public MailSettings {
    to = List.copyOf(to);
  }

  /**
   * @param password content of the secret file
   * @throws WritException {@code GWY-002}
   */
  public static MailSettings of(SinkSettings settings, Path folder, Optional<String> password) {
    String host = settings.required("host");
    if (!host.matches("[A-Za-z0-9.:-]{1,250}")) {
      throw settings.wrong("host", "is no name of a host and no address");
    }
    Tls tls = tls(settings);
    if (tls == Tls.NONE && !Hosts.isLoopback(host)) {
      throw settings.wrong("tls", "is none, and the host is not on loopback");
    }
    MailSettings made =
        new MailSettings(
            host,
            Math.toIntExact(settings.count("port").orElse(tls.port)),
            tls,
            login(settings, password),
            addresses(settings, "from").getFirst(),
            addresses(settings, "to"),
            PostSettings.answerWithin(settings),
            PostSettings.authorities(settings, folder),
            NoticeFeed.of(settings),
            NoticeText.of(settings, UnaryOperator.identity()));
    if (made.port > PORT_MAX) {
      throw settings.wrong("port", "is more than " + PORT_MAX);
    }
    settings.end();
    return made;
  }

  private static Tls tls(SinkSettings settings) {
    String word = settings.text("tls").orElse("implicit");
    for (Tls tls : Tls.values()) {
      if (tls.name().toLowerCase(Locale.ROOT).equals(word)) {
        return tls;
      }
    }
    throw settings.wrong("tls", "is none of implicit, starttls, none");
  }

  private static Optional<Login> login(SinkSettings settings, Optional<String> password) {
    Optional<String> user = settings.text("user");
    if (user.isPresent() != password.isPresent()) {
      throw settings.wrong("user", "and secret belong together");
    }
    return user.map(name -> new Login(name, password.get()));
  }

  private static List<InternetAddress> addresses(SinkSettings settings, String key) {
    List<InternetAddress> addresses = new ArrayList<>();
    for (String text : settings.required(key).split(" +")) {
      try {
        InternetAddress address = new InternetAddress(text, true);
        if (!address.getAddress().contains("@")) {
          throw settings.wrong(key, "has an address without a domain");
        }
        addresses.add(address);
      } catch (AddressException e) {
        throw settings.wrong(key, "is no list of mail addresses with blanks between them");
      }
    }
    if (addresses.size() > (key.equals("from") ? 1 : RECEIVERS_MAX)) {
      throw settings.wrong(key, "has too many addresses");
    }
    return addresses;
  }

  @Override
  public String toString() {
    return "smtp://" + host + ":" + port;
  }
}

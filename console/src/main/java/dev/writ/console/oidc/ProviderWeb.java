package dev.writ.console.oidc;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.http.auth.OidcProvider;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Asks a provider: over TLS, or plainly on this machine; at the issuer's origin and those that the
 * configuration names; for so long, for so much, a few at once, without following redirects.
 */
final class ProviderWeb implements AutoCloseable {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
  private static final int BYTES_MAX = 1 << 18;
  private static final int AT_ONCE = 16;

  private final Duration within;
  private final URI issuer;
  private final List<String> origins;
  private final HttpClient client;

  /** Of codes. What is got is got once for all, so it takes none. */
  private final ProviderPlaces places = new ProviderPlaces(AT_ONCE);

  ProviderWeb(OidcProvider provider, Duration within) {
    this.within = within;
    this.issuer = URI.create(provider.settings().issuer());
    this.origins = provider.settings().origins();
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_WITHIN);
    if (!provider.authorities().isEmpty()) {
      builder.sslContext(trusting(provider.authorities()));
    }
    this.client = builder.build();
  }

  private static SSLContext trusting(List<X509Certificate> authorities) {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (int i = 0; i < authorities.size(); i++) {
        store.setCertificateEntry(String.valueOf(i), authorities.get(i));
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** An answer, of which the document is read where it is one. */
  record Answer(int status, Optional<JsonValue.Obj> document) {}

  /**
   * Reads an address that the provider names.
   *
   * @param what for the message
   * @throws WritException {@code GWY-135} for one that nothing protects, or that is elsewhere
   */
  URI require(String what, String text) {
    URI address;
    try {
      address = new URI(text);
    } catch (URISyntaxException e) {
      throw new WritException(OidcError.UNREACHED, "its " + what + " is no address", e);
    }
    boolean here =
        "http".equals(address.getScheme())
            && address.getHost() != null
            && Hosts.isLoopback(address.getHost());
    if (address.getHost() == null
        || address.getRawUserInfo() != null
        || address.getRawFragment() != null
        || !"https".equals(address.getScheme()) && !here) {
      throw ProviderAnswer.unreached("its " + what + " is no https address");
    }
    if (!origin(address).equals(origin(issuer)) && !origins.contains(origin(address))) {
      throw ProviderAnswer.unreached(
          "its " + what + " is at " + origin(address) + ", which `origins` does not name");
    }
    return address;
  }

  private static String origin(URI address) {
    int usual = address.getScheme().equals("https") ? 443 : 80;
    int port = address.getPort() == usual ? -1 : address.getPort();
    return address.getScheme() + "://" + address.getHost() + (port < 0 ? "" : ":" + port);
  }

  /**
   * Gets a document. Callers take care that it is not got many times at once.
   *
   * @throws WritException {@code GWY-135}
   */
  JsonValue.Obj get(String what, URI address) {
    Answer answer = send(what, HttpRequest.newBuilder(address).GET());
    if (answer.status() != 200 || answer.document().isEmpty()) {
      throw ProviderAnswer.unreached("its " + what + " is answered with " + answer.status());
    }
    return answer.document().get();
  }

  /**
   * Sends a form.
   *
   * @param from the address of who caused it: addresses are served in turn
   * @throws WritException {@code GWY-026} where that takes too long, {@code GWY-135}
   */
  Answer post(
      String what,
      URI address,
      SortedMap<String, String> form,
      Optional<String> authorization,
      String from) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(query(form)));
    authorization.ifPresent(value -> request.header("Authorization", value));
    takePlace(from);
    try {
      return send(what, request);
    } finally {
      places.giveBack();
    }
  }

  /** Names and values, encoded as in forms and queries. */
  static String query(SortedMap<String, String> values) {
    List<String> pairs = new ArrayList<>();
    for (Map.Entry<String, String> entry : values.entrySet()) {
      pairs.add(encoded(entry.getKey()) + "=" + encoded(entry.getValue()));
    }
    return String.join("&", pairs);
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /**
   * @throws WritException {@code GWY-026} where so many others wait that it would take too long
   */
  private void takePlace(String from) {
    try {
      if (places.take(from, within)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new WritException(
        GatewayError.SERVER_BUSY, AT_ONCE + " codes wait for the provider of sign-in");
  }

  private Answer send(String what, HttpRequest.Builder request) {
    return answer(
        client.sendAsync(
            request
                .header("Accept", "application/json")
                .header("User-Agent", "writ")
                .timeout(within)
                .build(),
            HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), BYTES_MAX)),
        what);
  }

  /** The whole answer within the time: the client's own time ends with the head. */
  private Answer answer(CompletableFuture<HttpResponse<byte[]>> sent, String what) {
    try {
      HttpResponse<byte[]> answer = sent.get(within.toMillis(), TimeUnit.MILLISECONDS);
      return new Answer(answer.statusCode(), document(answer.body()));
    } catch (ExecutionException e) {
      throw new WritException(OidcError.UNREACHED, "its " + what + ": " + innermost(e), e);
    } catch (TimeoutException e) {
      sent.cancel(true);
      throw new WritException(
          OidcError.UNREACHED, "its " + what + ": no answer within " + within, e);
    } catch (InterruptedException e) {
      sent.cancel(true);
      Thread.currentThread().interrupt();
      throw new WritException(OidcError.UNREACHED, "interrupted", e);
    }
  }

  /** The type alone: messages quote what the other side sent. */
  private static String innermost(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    return cause.getClass().getSimpleName();
  }

  private static Optional<JsonValue.Obj> document(byte[] bytes) {
    try {
      return Jcs.parse(bytes) instanceof JsonValue.Obj object
          ? Optional.of(object)
          : Optional.empty();
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}

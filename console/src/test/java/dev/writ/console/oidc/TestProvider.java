package dev.writ.console.oidc;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.canonicalize.Digest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.net.ssl.SSLContext;

/** A provider in this process, which says what a test has it say. */
final class TestProvider implements AutoCloseable {
  static final String SECRET = "the-client's-own";
  static final RSAKey FIRST = key("first");
  static final RSAKey SECOND = key("second");

  final HttpServer server;
  final String issuer;
  final List<String> asked = new CopyOnWriteArrayList<>();
  private final InstantSource clock;
  private final ConcurrentHashMap<String, Map<String, String>> codes = new ConcurrentHashMap<>();

  /** Keys that it publishes. */
  volatile List<JWK> keys = List.of(FIRST);

  /** Changes its description. */
  volatile Consumer<Map<String, Object>> describing = _ -> {};

  /** Changes what it states of a person. */
  volatile Consumer<Map<String, Object>> stating = _ -> {};

  /** Makes a token of what it states. */
  volatile Function<Map<String, Object>, String> signing = claims -> signed(FIRST, claims);

  /** Answers a path in place of it; false where it does not. */
  volatile Answering instead = _ -> false;

  /** Answers a request. */
  interface Answering {
    boolean answers(HttpExchange exchange) throws IOException;
  }

  TestProvider(InstantSource clock) {
    this(clock, Optional.empty());
  }

  /**
   * @param tls with its certificate; absent for a plain connection
   */
  TestProvider(InstantSource clock, Optional<SSLContext> tls) {
    this.clock = clock;
    InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try {
      if (tls.isPresent()) {
        HttpsServer secure = HttpsServer.create(here, 0);
        secure.setHttpsConfigurator(new HttpsConfigurator(tls.get()));
        server = secure;
      } else {
        server = HttpServer.create(here, 0);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    issuer =
        (tls.isPresent() ? "https" : "http")
            + "://127.0.0.1:"
            + server.getAddress().getPort()
            + "/realm";
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  private static RSAKey key(String kid) {
    try {
      return new RSAKeyGenerator(2048).keyID(kid).keyUse(KeyUse.SIGNATURE).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  static String signed(RSAKey key, Map<String, Object> claims) {
    try {
      return signed(
          new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(),
          new RSASSASigner(key),
          claims);
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  static String signed(JWSHeader head, JWSSigner signer, Map<String, Object> claims) {
    try {
      JWSObject object = new JWSObject(head, new Payload(claims));
      object.sign(signer);
      return object.serialize();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    asked.add(path);
    try (exchange) {
      if (instead.answers(exchange)) {
        return;
      }
      switch (path) {
        case "/realm/.well-known/openid-configuration" -> send(exchange, 200, description());
        case "/realm/keys" -> send(exchange, 200, new JWKSet(keys).toJSONObject(true));
        case "/realm/token" -> token(exchange);
        default -> send(exchange, 404, Map.of());
      }
    }
  }

  private Map<String, Object> description() {
    Map<String, Object> description = new TreeMap<>();
    description.put("issuer", issuer);
    description.put("authorization_endpoint", issuer + "/authorize?kind=code");
    description.put("token_endpoint", issuer + "/token");
    description.put("jwks_uri", issuer + "/keys");
    description.put("code_challenge_methods_supported", List.of("plain", "S256"));
    description.put("authorization_response_iss_parameter_supported", true);
    describing.accept(description);
    return description;
  }

  static void send(HttpExchange exchange, int status, Map<String, Object> json) throws IOException {
    byte[] bytes = JSONObjectUtils.toJSONString(json).getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private void token(HttpExchange exchange) throws IOException {
    Map<String, String> form =
        query(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    Map<String, String> begun = codes.remove(form.getOrDefault("code", ""));
    String basic =
        "Basic "
            + Base64.getEncoder()
                .encodeToString("writ:the-client%27s-own".getBytes(StandardCharsets.US_ASCII));
    boolean right =
        begun != null
            && basic.equals(exchange.getRequestHeaders().getFirst("Authorization"))
            && form.get("grant_type").equals("authorization_code")
            && form.get("redirect_uri").equals(begun.get("redirect_uri"))
            && challenge(form.get("code_verifier")).equals(begun.get("code_challenge"));
    if (!right) {
      send(exchange, 400, Map.of("error", "invalid_grant", "error_description", "<script>"));
      return;
    }
    long now = clock.instant().getEpochSecond();
    Map<String, Object> claims = new TreeMap<>();
    claims.put("iss", issuer);
    claims.put("aud", "writ");
    claims.put("sub", "7f3a");
    claims.put("nonce", begun.get("nonce"));
    claims.put("iat", now);
    claims.put("exp", now + 300);
    claims.put("preferred_username", "alice");
    claims.put("access", Map.of("roles", List.of("workers", "others")));
    stating.accept(claims);
    send(exchange, 200, Map.of("token_type", "Bearer", "id_token", signing.apply(claims)));
  }

  private static String challenge(String verifier) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(
            HexFormat.of()
                .parseHex(Digest.sha256(verifier.getBytes(StandardCharsets.US_ASCII)).hex()));
  }

  /** Somebody agrees at the address to which the browser was sent. */
  String agree(String location) {
    Map<String, String> asked = query(URI.create(location).getRawQuery());
    String code = "code-" + codes.size() + "-" + asked.get("state");
    codes.put(code, asked);
    return "/console/oidc/callback?code="
        + code
        + "&state="
        + asked.get("state")
        + "&iss="
        + ProviderWeb.encoded(issuer);
  }

  static Map<String, String> query(String raw) {
    Map<String, String> values = new TreeMap<>();
    for (String pair : raw.split("&")) {
      String[] sides = pair.split("=", 2);
      values.put(
          URLDecoder.decode(sides[0], StandardCharsets.UTF_8),
          URLDecoder.decode(sides[1], StandardCharsets.UTF_8));
    }
    return values;
  }

  /** How often a path was asked for. */
  long timesAsked(String path) {
    return new ArrayList<>(asked).stream().filter(path::equals).count();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}

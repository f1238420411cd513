package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.http.TestApi;
import dev.writ.tools.http.TestApi.Asked;
import dev.writ.tools.mcp.remote.TestMcp;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.net.ssl.SSLContext;

/** An authorization server of the test's own, and the MCP server that takes its tokens. */
public final class TestOauth implements AutoCloseable {
  /** What every token of it begins with: nothing that is shown or written may have it. */
  public static final String TOKEN = "token-nobody-may-see-";

  private final String host;
  private final TestApi api;
  private final TestMcp mcp;
  private final AtomicInteger tokens = new AtomicInteger();
  private final ConcurrentSkipListMap<String, TreeMap<String, String>> codes =
      new ConcurrentSkipListMap<>();
  private volatile String lie = "";
  private volatile String refresh = "";
  private volatile int expiresIn = 3_600;
  private volatile Runnable renewing = () -> {};

  public TestOauth() {
    this("http://127.0.0.1", TestApi::plain, TestMcp.stateless());
  }

  /** Both over TLS, as {@code login.test} and {@code crm.test}. */
  public static TestOauth secure(SSLContext identity, SSLContext identityOfMcp) {
    return new TestOauth(
        "https://login.test",
        handler -> TestApi.secure(identity, handler),
        TestMcp.secure(identityOfMcp, "crm.test"));
  }

  private TestOauth(String host, Function<TestApi.Handler, TestApi> open, TestMcp server) {
    this.host = host;
    api = open.apply((asked, out, _) -> answer(asked, out));
    mcp =
        server.lying((asked, message, out, _) -> {
          if (asked.line().contains("/.well-known/")) {
            TestApi.write(out, TestApi.message("200 OK", "application/json", resource()));
            return true;
          }
          if (lie.equals("scope") && JsonValue.of("tools/call").equals(message.get("method"))) {
            TestApi.write(
                out,
                "HTTP/1.1 403 No\r\nWWW-Authenticate: Bearer error=\"insufficient_scope\","
                    + " scope=\"crm:write\"\r\nContent-Length: 0\r\n\r\n");
            return true;
          }
          boolean known = asked.field("Authorization").equals("Bearer " + TOKEN + tokens.get());
          if (!known) {
            TestApi.write(
                out,
                "HTTP/1.1 401 Who\r\nWWW-Authenticate: Bearer realm=\"crm, or so\","
                    + " resource_metadata=\""
                    + mcpOrigin()
                    + "/.well-known/oauth-protected-resource/mcp\", scope=\"crm:read\""
                    + "\r\nContent-Length: 0\r\n\r\n");
            return true;
          }
          if (lie.equals("echo") && JsonValue.of("tools/call").equals(message.get("method"))) {
            String told = TestMcp.result(message, TestMcp.said(asked.field("Authorization")));
            TestApi.write(out, TestApi.message("200 OK", "application/json", told));
            return true;
          }
          return false;
        });
  }

  public TestOauth lying(String how) {
    lie = how;
    return this;
  }

  public TestOauth expiringIn(int seconds) {
    expiresIn = seconds;
    return this;
  }

  /** What happens before a refresh token is taken. */
  public TestOauth atRenewal(Runnable what) {
    renewing = what;
    return this;
  }

  /** The requests that came with a refresh token. */
  public List<Asked> renewals() {
    return asked("/token").stream()
        .filter(a -> a.text().contains("grant_type=refresh_token"))
        .toList();
  }

  /** No token so far is good any more. */
  public void revoke() {
    tokens.incrementAndGet();
  }

  public String url() {
    return mcp.url();
  }

  public TestMcp mcp() {
    return mcp;
  }

  public List<Asked> asked(String path) {
    return api.asked().stream().filter(a -> a.line().split(" ")[1].startsWith(path)).toList();
  }

  private String mcpOrigin() {
    return mcp.url().replace("/mcp", "");
  }

  public String issuer() {
    return origin() + "/tenant";
  }

  private String origin() {
    return host + ":" + api.port();
  }

  private String resource() {
    return JsonObject.of(
        "resource",
        lie.equals("another-resource") ? "https://other.example/mcp" : mcp.url(),
        "authorization_servers",
        List.of(
            switch (lie) {
              case "http-issuer" -> "http://auth.example";
              case "http-here" -> "http://127.0.0.1:" + api.port() + "/tenant";
              case "private-issuer" -> "https://10.1.2.3";
              default -> issuer();
            }));
  }

  private String metadata() {
    return JsonObject.of(
        "issuer",
        lie.equals("another-issuer") ? "https://honest.example" : issuer(),
        "authorization_endpoint",
        lie.equals("script") ? "javascript:alert(1)" : origin() + "/authorize",
        "token_endpoint",
        switch (lie) {
          case "token-elsewhere" -> "https://tokens.example/token";
          case "token-http" -> "http://tokens.example/token";
          default -> origin() + "/token";
        },
        lie.equals("no-registration") ? "other" : "registration_endpoint",
        origin() + "/register",
        "authorization_response_iss_parameter_supported",
        lie.equals("no-iss") || lie.equals("wrong-iss"),
        "client_id_metadata_document_supported",
        lie.equals("documents"),
        "code_challenge_methods_supported",
        lie.equals("no-pkce") ? List.of("plain") : List.of("S256"),
        "scopes_supported",
        List.of("crm:read", "offline_access"));
  }

  /** As an HTTP answer of JSON. */
  private static String json(String status, String text) {
    return TestApi.message(status, "application/json", text);
  }

  private void answer(Asked asked, OutputStream out) throws IOException {
    String path = asked.line().split(" ")[1].split("\\?")[0];
    TestApi.write(
        out,
        switch (path) {
          case "/.well-known/openid-configuration/tenant" ->
              lie.equals("no-metadata")
                  ? json("200 OK", "[]")
                  : lie.equals("redirect")
                      ? "HTTP/1.1 302 There\r\nLocation: http://127.0.0.2:9/x\r\n"
                          + "Content-Length: 0\r\n\r\n"
                      : json("200 OK", metadata());
          case "/register" -> json("201 Made", JsonObject.of("client_id", "client-1"));
          case "/authorize" -> authorize(asked);
          case "/token" -> token(asked);
          default -> json("404 No", "{}");
        });
  }

  private String authorize(Asked asked) {
    TreeMap<String, String> query =
        form(URI.create("http://x" + asked.line().split(" ")[1]).getRawQuery());
    String code = "code-" + tokens.incrementAndGet();
    codes.put(code, query);
    String to =
        query.get("redirect_uri")
            + (lie.equals("denied") ? "?error=access_denied" : "?code=" + code)
            + "&state="
            + (lie.equals("state") ? "guessed" : query.get("state"))
            + switch (lie) {
              case "no-iss" -> "";
              case "wrong-iss" -> "&iss=https%3A%2F%2Fhonest.example";
              default -> "&iss=" + OauthWeb.encoded(issuer());
            };
    return "HTTP/1.1 302 There\r\nLocation: " + to + "\r\nContent-Length: 0\r\n\r\n";
  }

  private String token(Asked asked) {
    TreeMap<String, String> form = form(asked.text());
    if ("refresh_token".equals(form.get("grant_type"))) {
      renewing.run();
    }
    boolean good =
        mcp.url().equals(form.get("resource"))
            && switch (form.getOrDefault("grant_type", "")) {
              case "authorization_code" -> isProven(form);
              case "refresh_token" ->
                  !lie.equals("refresh-fails") && refresh.equals(form.get("refresh_token"));
              case "client_credentials" ->
                  asked.field("Authorization").startsWith("Basic ")
                      && new String(
                              Base64.getDecoder().decode(asked.field("Authorization").substring(6)),
                              StandardCharsets.US_ASCII)
                          .equals("machine:machine-secret-1");
              default -> false;
            };
    if (!good) {
      return json("400 No", JsonObject.of("error", "invalid_grant"));
    }
    int number = tokens.incrementAndGet();
    refresh = TOKEN + "refresh-" + number;
    return json(
        "200 OK",
        JsonObject.of(
            "access_token",
            TOKEN + number,
            "token_type",
            lie.equals("type") ? "mac" : "Bearer",
            "expires_in",
            (long) expiresIn,
            lie.equals("no-refresh") ? "other" : "refresh_token",
            refresh));
  }

  private boolean isProven(TreeMap<String, String> form) {
    TreeMap<String, String> asked = codes.remove(form.getOrDefault("code", ""));
    return asked != null
        && asked.get("code_challenge_method").equals("S256")
        && asked.get("code_challenge").equals(hash(form.get("code_verifier")))
        && asked.get("redirect_uri").equals(form.get("redirect_uri"))
        && asked.get("resource").equals(mcp.url())
        && asked.get("client_id").equals(form.get("client_id"));
  }

  private static String hash(String verifier) {
    try {
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(
              MessageDigest.getInstance("SHA-256")
                  .digest(verifier.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static TreeMap<String, String> form(String text) {
    TreeMap<String, String> form = new TreeMap<>();
    for (String pair : text.split("&")) {
      String[] sides = pair.split("=", 2);
      form.put(sides[0], URLDecoder.decode(sides[1], StandardCharsets.UTF_8));
    }
    return form;
  }

  /** Where the browser of a person who agrees ends. */
  public Optional<String> agree(String address) {
    if (address.startsWith("https://login.test")) { // a name that no browser here knows
      URI uri = URI.create(address);
      String line = "GET " + uri.getRawPath() + "?" + uri.getRawQuery() + " HTTP/1.1\r\n\r\n";
      return Optional.of(
          new Asked(authorize(new Asked(line, new byte[0])), new byte[0]).field("Location"));
    }
    try {
      var connection = (java.net.HttpURLConnection) URI.create(address).toURL().openConnection();
      connection.setInstanceFollowRedirects(false);
      return Optional.ofNullable(connection.getHeaderField("Location"));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Objects of JSON, from names and values in turn. */
  private static final class JsonObject {
    static String of(Object... members) {
      var object = JsonValue.object();
      for (int i = 0; i < members.length; i += 2) {
        object.put((String) members[i], value(members[i + 1]));
      }
      return TestMcp.json(object.build());
    }

    private static JsonValue value(Object value) {
      return switch (value) {
        case String text -> JsonValue.of(text);
        case Long number -> JsonValue.of(number);
        case Boolean flag -> JsonValue.of(flag);
        case List<?> list -> JsonValue.of(list.stream().map(JsonObject::value).toList());
        default -> throw new IllegalArgumentException(value.toString());
      };
    }
  }

  @Override
  public void close() {
    api.close();
    mcp.close();
  }
}

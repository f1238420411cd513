package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import dev.writ.cli.setup.ConfiguredServer;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.remote.HeaderValue;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.process.SecretDirectory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The values of a client's entry: placeholders filled in, and what looks like a secret under a name
 * in Writ's own store, never in the package.
 */
final class EntryValues {
  private static final int NAME_MAX = 64;

  /** Names of variables and headers whose values are secrets, whatever they look like. */
  private static final Pattern SECRET_NAME =
      Pattern.compile(
          "(?i).*(token|secret|passw|pwd|passphrase|api[_-]?key|apikey|access[_-]?key|private"
              + "|credential|authorization|bearer|cookie|session|dsn|connection_?string"
              + "|database_url|_key|_pat|_auth|webhook)([_-]?[0-9]+)?$|(?i)^(key|auth|pat)$");

  /** Forms that tokens of well-known services have, and places with a password. */
  private static final Pattern SECRET_VALUE =
      Pattern.compile(
          "(?s).*\\b(gh[oprsu]_|github_pat_|glpat-|sk-|sk_live_|sk_test_|rk_live_|xox[abeprs]-|AKIA"
              + "|ASIA|AIza|ya29\\.|eyJ[A-Za-z0-9_-]{10,}\\.|npm_|pypi-|hf_|dop_v1_|SG\\.|shpat_"
              + "|secret_|ntn_|figd_|lin_api_)[A-Za-z0-9._/+=-]{8,}.*"
              + "|.*://[^/\\s:@]*:[^/\\s@]+@.*|.*-----BEGIN [A-Z ]*PRIVATE KEY-----.*");

  private static final Pattern SECRET_QUERY =
      Pattern.compile("(?i).*[?&][^=&]*(key|token|secret|password|auth)[^=&]*=.*");

  private static final Pattern ASKED = Pattern.compile("\\$\\{input:[^}]*}");

  private static final Pattern WORDS = Pattern.compile("(?<scheme>(?i:bearer|basic|token) +)\\S.*");

  /** Long, without a meaning that a person would give it. */
  private static final Pattern RANDOM =
      Pattern.compile("(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/_=-]{32,}");

  private final ConfiguredServer entry;
  private final String name;
  private final EntryPlaceholders placeholders;
  private final SecretDirectory secrets;
  private final Set<String> foreign;
  private final TreeMap<String, String> plain = new TreeMap<>();
  private final TreeMap<String, String> references = new TreeMap<>();
  private final TreeMap<String, HeaderValue> headers = new TreeMap<>();
  private final TreeMap<String, byte[]> unstored = new TreeMap<>();

  private EntryValues(
      ConfiguredServer entry,
      String name,
      Map<String, String> environment,
      SecretDirectory secrets,
      Set<String> foreign) {
    this.entry = entry;
    this.name = name;
    this.placeholders = new EntryPlaceholders(environment);
    this.secrets = secrets;
    this.foreign = foreign;
  }

  /**
   * Reads the variables of an entry.
   *
   * @param name that the server has here
   * @param environment for the placeholders
   * @param foreign names of secrets that other servers have: names of servers and of their
   *     variables may be joined to one that is another's, and this one is not asked for
   * @throws WritException {@code CLI-079} for a value that is not known, or that cannot be kept
   */
  static EntryValues of(
      ConfiguredServer entry,
      String name,
      Map<String, String> environment,
      SecretDirectory secrets,
      Set<String> foreign) {
    EntryValues values = new EntryValues(entry, name, environment, secrets, foreign);
    entry.environment().forEach(values::variable);
    entry.headers().forEach(values::header);
    return values;
  }

  private static WritException refused(String why) {
    return new WritException(CliError.IMPORT_ENTRY, why);
  }

  private void variable(String variable, String value) {
    if (ASKED.matcher(value).matches()) {
      references.put(variable, asked(variable, true));
      return;
    }
    EntryPlaceholders.Filled filled = placeholders.fill(variable, value);
    if (isSecret(variable, filled) || entry.secret().contains(variable)) {
      references.put(variable, kept(variable, filled.text()));
    } else {
      plain.put(variable, filled.text());
    }
  }

  /** A header; of {@code Bearer} and a token, only the token is a secret. */
  private void header(String header, String value) {
    Matcher words = WORDS.matcher(value);
    String scheme = words.matches() ? words.group("scheme") : "";
    String rest = value.substring(scheme.length());
    String called = HeaderValue.requireName(header);
    if (ASKED.matcher(rest).matches()) {
      headers.put(called, new HeaderValue(scheme, Optional.of(asked(called, false))));
      return;
    }
    EntryPlaceholders.Filled filled = placeholders.fill(called, rest);
    headers.put(
        called,
        isSecret(called, filled) || entry.secret().contains(header)
            ? new HeaderValue(scheme, Optional.of(kept(called, filled.text())))
            : new HeaderValue(scheme + filled.text(), Optional.empty()));
  }

  /**
   * A value for which the client asks its user: here it has to be a secret already.
   *
   * @param orSet whether the environment may have it, too: not what is sent elsewhere at once
   */
  private String asked(String variable, boolean orSet) {
    String secret = secret(variable);
    if (foreign.contains(secret)) {
      throw refused("the secret " + secret + " is that of another server: writ mcp add " + name);
    }
    if (!secrets.list().contains(secret)) {
      String here = orSet ? placeholders.variable(variable, variable) : "";
      if (here.isEmpty()) {
        throw refused(
            variable + " is asked of its user: writ secret put " + secret + ", and import again");
      }
      return kept(variable, here);
    }
    return secret;
  }

  /** The name under which a value is kept. */
  private String kept(String variable, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length < 8 || bytes.length > SecretDirectory.BYTES_MAX) {
      throw refused(
          variable + " is a secret of " + bytes.length + " bytes: 8 bytes to 64 KiB are kept");
    }
    String secret = secret(variable);
    if (!secrets.list().contains(secret)) {
      unstored.put(secret, bytes);
    } else if (!Arrays.equals(secrets.read(secret), bytes)) {
      throw refused("the secret " + secret + " has another value: writ secret remove " + secret);
    }
    return secret;
  }

  /** The name of a secret, of the server's and the variable's. */
  private String secret(String variable) {
    String all = (name + "-" + variable).toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9.-]", "-");
    String digest = Digest.sha256(all.getBytes(StandardCharsets.UTF_8)).hex().substring(0, 8);
    return all.length() <= NAME_MAX ? all : all.substring(0, NAME_MAX - 9) + "-" + digest;
  }

  static boolean isSecret(String variable, String value) {
    return SECRET_NAME.matcher(variable).matches()
        || SECRET_VALUE.matcher(value).matches()
        || RANDOM.matcher(value).matches();
  }

  private static boolean isSecret(String variable, EntryPlaceholders.Filled value) {
    return value.isSecret() || isSecret(variable, value.text());
  }

  /**
   * The command, in which no secret may stand: it becomes part of the package.
   *
   * @throws WritException {@code CLI-079}
   */
  private List<String> command() {
    List<EntryPlaceholders.Filled> filled = new ArrayList<>();
    for (String word : entry.command()) {
      filled.add(placeholders.fill("argument " + filled.size(), word));
    }
    List<String> words = filled.stream().map(EntryPlaceholders.Filled::text).toList();
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      String option = word.startsWith("-") ? word.split("=", 2)[0] : i > 0 ? words.get(i - 1) : "";
      boolean named =
          option.startsWith("--")
              && SECRET_NAME.matcher(option).matches()
              && (!word.startsWith("-") || word.contains("="));
      if (named || filled.get(i).isSecret() || SECRET_VALUE.matcher(word).matches()) {
        throw refused(
            "argument "
                + i
                + " looks like a secret, and arguments are part of the package: give it in a"
                + " variable that the server reads, by --env-secret");
      }
    }
    return words;
  }

  /**
   * The server that the entry means.
   *
   * @param hosts that a local one may connect to
   * @param reads what of this machine a local one sees
   * @throws WritException {@code CLI-079}, and what such a server is refused with
   */
  ServerSpec spec(List<String> hosts, List<String> reads) {
    if (!entry.command().isEmpty()) {
      List<String> words = command();
      boolean bridge = words.stream().anyMatch(w -> w.matches("mcp-remote(@.*)?"));
      if (bridge) {
        throw refused("it only leads to a server elsewhere: writ mcp add " + name + " URL");
      }
      return new ServerSpec(words, plain, references, hosts, reads, ServerSpec.START_MS);
    }
    EntryPlaceholders.Filled filled = placeholders.fill("url", entry.url().orElse(""));
    String url = filled.text();
    if (filled.isSecret()
        || SECRET_VALUE.matcher(url).matches()
        || SECRET_QUERY.matcher(url).matches()) {
      throw refused("its address looks like a secret, and is part of the package");
    }
    return ServerSpec.elsewhere(
        new RemoteSpec(RemoteSpec.requireUrl(url), headers), ServerSpec.START_MS);
  }

  /** Names of the secrets that it needs. */
  List<String> secretNames() {
    TreeSet<String> names = new TreeSet<>(references.values());
    headers.values().forEach(header -> header.secret().ifPresent(names::add));
    return List.copyOf(names);
  }

  /** Names of the variables of the environment whose values it has. */
  List<String> taken() {
    return placeholders.taken();
  }

  /** The value of a secret that is in the store, or of one that is new; empty for no such one. */
  Optional<byte[]> valueOf(String secret) {
    Optional<byte[]> fresh = Optional.ofNullable(unstored.get(secret));
    return fresh.isPresent() || !secrets.list().contains(secret)
        ? fresh
        : Optional.of(secrets.read(secret));
  }

  /** Puts new secrets into the store. */
  void store() {
    unstored.forEach(secrets::put);
  }

  /** Takes them out again, where the server was not taken. */
  void forget() {
    unstored.keySet().forEach(secrets::remove);
  }
}

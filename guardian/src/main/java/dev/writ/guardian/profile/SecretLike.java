package dev.writ.guardian.profile;

import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Recognizes texts that look like a secret or like a reference to one: names of members and
 * variables by their words, values by their form. It is a heuristic, not a proof; matches are
 * refused. The patterns have no nested repetition, so they run in linear time.
 */
public final class SecretLike {
  private static final List<String> WORDS =
      List.of(
          "password",
          "passwd",
          "passphrase",
          "pwd",
          "secret",
          "secrets",
          "credential",
          "credentials",
          "token",
          "apikey",
          "authorization",
          "bearer",
          "privatekey",
          "cookie");

  /** Pairs of words that together mean one of the above. */
  private static final List<String> PAIRS =
      List.of("api key", "access key", "private key", "secret key", "session key", "signing key");

  private static final List<Pattern> VALUES =
      List.of(
          Pattern.compile("-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"),
          Pattern.compile("\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b"),
          Pattern.compile("\\bgh[pousr]_[0-9A-Za-z]{20}"),
          Pattern.compile("\\bxox[abprs]-[0-9A-Za-z]{10}"),
          Pattern.compile("\\bsk-[0-9A-Za-z_-]{20}"),
          Pattern.compile("\\beyJ[0-9A-Za-z_-]{10,4000}\\.eyJ[0-9A-Za-z_-]{10}"),
          Pattern.compile("(?i)\\b(?:secrets?|vault|keyring|keychain)(?:://|:)[^\\s]"),
          Pattern.compile("(?i)\\barn:aws:(?:secretsmanager|ssm):"),
          Pattern.compile("(?i)\\$\\{?\\{? ?(?:secrets?|vault|env)[.:]"),
          Pattern.compile("/(?:run|var/run)/secrets/"),
          Pattern.compile("/proc/[^/\\s]{1,20}/environ"),
          Pattern.compile("(?:^|/)\\.(?:ssh|aws|gnupg|netrc|kube)(?:/|$|\\s)"),
          Pattern.compile("/etc/(?:shadow|gshadow|sudoers)\\b"));

  /** A shell variable whose name is judged like any other name. */
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{?([A-Za-z_][A-Za-z0-9_]{0,80})");

  private SecretLike() {}

  /** Whether a name (of a member or variable) suggests a secret. */
  public static boolean name(String name) {
    String words =
        name.replaceAll("([a-z0-9])([A-Z])", "$1 $2")
            .replaceAll("[^A-Za-z0-9]+", " ")
            .strip()
            .toLowerCase(Locale.ROOT);
    String padded = " " + words + " ";
    return WORDS.stream().anyMatch(word -> padded.contains(" " + word + " "))
        || PAIRS.stream().anyMatch(pair -> padded.contains(" " + pair + " "));
  }

  /** Whether a text is, holds or refers to a secret, as far as its form shows. */
  public static boolean text(String text) {
    return VALUES.stream().anyMatch(pattern -> pattern.matcher(text).find())
        || VARIABLE.matcher(text).results().anyMatch(found -> name(found.group(1)));
  }

  /** The place below a value that looks like a secret: a JSON Pointer that contains no value. */
  static Optional<String> find(String at, JsonValue value) {
    return switch (value) {
      case JsonValue.Str text -> text(text.value()) ? Optional.of(at) : Optional.empty();
      case JsonValue.Arr list -> {
        Optional<String> found = Optional.empty();
        for (int i = 0; i < list.items().size() && found.isEmpty(); i++) {
          found = find(at + "/" + i, list.items().get(i));
        }
        yield found;
      }
      case JsonValue.Obj object -> {
        Optional<String> found = Optional.empty();
        for (Map.Entry<String, JsonValue> member : object.members().entrySet()) {
          if (found.isEmpty()) {
            // A member's name may be part of the secret, so only its parent is reported.
            found =
                name(member.getKey()) || text(member.getKey())
                    ? Optional.of(at)
                    : find(at + "/" + member.getKey(), member.getValue());
          }
        }
        yield found;
      }
      default -> Optional.empty();
    };
  }
}

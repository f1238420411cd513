package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import dev.writ.guardian.policy.CommandProfile;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The images of a policy's commands, in its file. */
final class PolicyImages {
  private PolicyImages() {}

  /** By program. */
  static SortedMap<String, String> of(Policy policy) {
    return policy.commands().map(CommandProfile::images).orElseGet(TreeMap::new);
  }

  /**
   * The text of a policy with other images, and otherwise as it is, with its comments.
   *
   * @param images the new image by program
   * @throws WritException {@code CLI-021} where an entry is not found in the text
   */
  static String with(String text, String file, SortedMap<String, String> images) {
    Policy before = parse(text, file);
    String changed = text;
    for (Map.Entry<String, String> image : images.entrySet()) {
      changed =
          entry(image.getKey(), of(before).get(image.getKey()))
              .matcher(changed)
              .replaceFirst(
                  found -> Matcher.quoteReplacement(found.group(1) + '"' + image.getValue() + '"'));
    }
    if (!withoutImages(parse(changed, file)).equals(withoutImages(before))
        || !of(parse(changed, file)).equals(replaced(of(before), images))) {
      throw new WritException(CliError.POLICY_TEXT, file + ", commands/images");
    }
    return changed;
  }

  private static Policy parse(String text, String file) {
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), file);
  }

  /** One entry of a mapping, in a line of its own or in braces. */
  private static Pattern entry(String program, String image) {
    return Pattern.compile(
        "(?m)((?:^\\s*|[{,]\\s*)[\"']?"
            + Pattern.quote(program)
            + "[\"']?\\s*:\\s*)[\"']?"
            + Pattern.quote(image)
            + "[\"']?(?=\\s*(?:[,}]|$|\\s#))");
  }

  private static SortedMap<String, String> replaced(
      SortedMap<String, String> before, SortedMap<String, String> images) {
    TreeMap<String, String> all = new TreeMap<>(before);
    all.putAll(images);
    return all;
  }

  private static TreeMap<String, JsonValue> withoutImages(Policy policy) {
    TreeMap<String, JsonValue> members = new TreeMap<>(policy.toJson().members());
    if (members.get("commands") instanceof JsonValue.Obj commands) {
      TreeMap<String, JsonValue> others = new TreeMap<>(commands.members());
      others.remove("images");
      members.put("commands", new JsonValue.Obj(others));
    }
    return members;
  }
}

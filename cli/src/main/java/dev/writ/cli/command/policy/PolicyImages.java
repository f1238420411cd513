package dev.writ.cli.command.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import dev.writ.embed.error.EmbedError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.tools.error.FileTrouble;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The images of a policy's commands, in its file. */
public final class PolicyImages {
  private PolicyImages() {}

  /** By program. */
  public static SortedMap<String, String> of(Policy policy) {
    return policy.commands().map(CommandProfile::images).orElseGet(TreeMap::new);
  }

  /**
   * The text of a policy with other images, and otherwise as it is, with its comments.
   *
   * @param images the new image by program
   * @throws WritException {@code CLI-021} where an entry is not found in the text
   */
  public static String with(String text, String file, SortedMap<String, String> images) {
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

  /** Replaces a policy's file as a whole, unless somebody else has changed it meanwhile. */
  public static void update(Path file, byte[] before, byte[] after) {
    try {
      if (!Arrays.equals(before, after)) {
        DurableFiles.REAL.update(file, before, after);
      }
    } catch (DurableFiles.Changed e) {
      throw new WritException(CliError.POLICY_CHANGED, file.toString(), e);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(file, e), e);
    }
  }

  /** Writes a policy to another file, whatever is there. */
  public static void write(Path file, byte[] content) {
    try {
      if (Files.exists(file)) {
        DurableFiles.REAL.update(file, Files.readAllBytes(file), content);
      } else {
        DurableFiles.REAL.write(file, content);
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(file, e), e);
    }
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

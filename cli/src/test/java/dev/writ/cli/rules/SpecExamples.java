package dev.writ.cli.rules;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.trust.Trust;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The JSON examples of {@code spec/}, read and verified. The word after {@code json} in a fence's
 * info string says what the block must be:
 *
 * <ul>
 *   <li>nothing: JSON;
 *   <li>{@code canonical}: in canonical form once spaces and line breaks between tokens are taken
 *       out (pages may wrap a document for its reader, but not reorder or respell it);
 *   <li>{@code writ:KIND}: canonical, and what the verifier of that kind in {@link #KINDS} accepts;
 *   <li>a name in {@link #FILES}: what is read as such a file, which need not be canonical;
 *   <li>{@code refused CODE}: refused with that code.
 * </ul>
 */
final class SpecExamples {

  /** Verifies canonical bytes or throws. */
  @FunctionalInterface
  interface Verifier {
    void verify(byte[] canonical);
  }

  /** The kinds of documents, found by their classes: see {@link #kinds}. */
  static final Map<String, Verifier> KINDS = kinds();

  /**
   * The kinds of files that people write or programs of others; tests beside the code look deeper.
   */
  static final Map<String, Verifier> FILES =
      new TreeMap<>(
          Map.of(
              "jwk",
              text -> VerifyingKey.fromJwk(Jcs.parse(text)),
              "trust",
              Trust::parse,
              "envelope",
              text -> Envelope.parse(Jcs.canonicalize(text)),
              "payload",
              Jcs::canonicalize,
              "event",
              text -> Jcs.parseCanonical(text, Limits.DEFAULT),
              "es256",
              text -> VerifyingKey.fromJwk(Jcs.parse(text)),
              "passkey",
              text -> VerifyingKey.fromJwk(Jcs.parse(text)),
              "entry",
              text -> Jcs.parseCanonical(text, Limits.DEFAULT),
              "client",
              Jcs::parse,
              "anchor",
              text -> Jcs.parseCanonical(text, Limits.DEFAULT)));

  private SpecExamples() {}

  /**
   * A class with a static {@code read(JsonValue)} and a {@code toJson()} is a kind of document. Its
   * kind is that of its payload type {@code TYPE}, or its name in lower case where it has none. Its
   * example must be read, and written again as the same bytes.
   */
  private static Map<String, Verifier> kinds() {
    Map<String, Verifier> kinds = new TreeMap<>();
    kinds.put("envelope", Envelope::parse);
    for (JavaClass c : Project.classes()) {
      if (c.isTopLevelClass()
          && c.tryGetMethod("read", JsonValue.class).isPresent()
          && c.tryGetMethod("toJson").isPresent()) {
        Class<?> type = c.reflect();
        kinds.put(kind(c, type), bytes -> verifySame(type, bytes));
      }
    }
    return kinds;
  }

  private static String kind(JavaClass c, Class<?> type) {
    if (c.tryGetField("TYPE").isEmpty()) {
      return type.getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
    }
    try {
      return ((String) type.getField("TYPE").get(null))
          .replace("application/vnd.writ.", "")
          .replace(".v1+json", "");
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(type + ".TYPE", e);
    }
  }

  private static void verifySame(Class<?> type, byte[] canonical) {
    try {
      Object document = type.getMethod("read", JsonValue.class).invoke(null, Jcs.parse(canonical));
      JsonValue again = (JsonValue) type.getMethod("toJson").invoke(document);
      if (!Arrays.equals(Jcs.write(again), canonical)) {
        throw new AssertionError(type.getSimpleName() + " writes its example as other bytes");
      }
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof WritException refusal) {
        throw refusal;
      }
      throw new AssertionError(type + " cannot be read", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(type + " is not read as a document", e);
    }
  }

  /**
   * @param line where the block begins in its page, counted from 1
   */
  record Block(int line, String info, String text) {}

  /** The fenced blocks of a page whose info string begins with {@code json}. */
  static List<Block> blocks(String page) {
    List<Block> blocks = new ArrayList<>();
    String[] lines = page.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      if (!lines[i].startsWith("```")) {
        continue;
      }
      String info = lines[i].substring(3).strip();
      int begin = i + 1;
      do {
        i++;
        if (i == lines.length) {
          throw new AssertionError("line " + begin + ": the fence is never closed");
        }
      } while (!lines[i].startsWith("```"));
      if (info.equals("json") || info.startsWith("json ")) {
        String text = String.join("\n", List.of(lines).subList(begin, i));
        blocks.add(new Block(begin, info.substring(4).strip(), text));
      }
    }
    return blocks;
  }

  /** Throws where the block is not what its info string says. */
  static void verify(Block block) {
    byte[] text = block.text().getBytes(StandardCharsets.UTF_8);
    String info = block.info();
    if (info.isEmpty()) {
      Jcs.parse(text);
    } else if (info.equals("canonical")) {
      Jcs.parseCanonical(compact(block.text()), Limits.DEFAULT);
    } else if (FILES.containsKey(info)) {
      FILES.get(info).verify(text);
    } else if (info.startsWith("writ:")) {
      Verifier verifier = KINDS.get(info.substring(5));
      if (verifier == null) {
        throw new AssertionError("no class reads \"" + info + "\"; there are " + KINDS.keySet());
      }
      byte[] canonical = compact(block.text());
      Jcs.parseCanonical(canonical, Limits.DEFAULT);
      verifier.verify(canonical);
    } else if (info.startsWith("refused ")) {
      verifyRefused(text, info.substring(8));
    } else {
      throw new AssertionError("unknown info string \"json " + info + "\"");
    }
  }

  private static void verifyRefused(byte[] text, String code) {
    try {
      Jcs.parse(text);
    } catch (WritException e) {
      if (!e.code().code().equals(code)) {
        throw new AssertionError("refused with another code than " + code, e);
      }
      return;
    }
    throw new AssertionError("not refused, though the page says " + code);
  }

  /** Takes out white space between tokens; strings stay as they are. */
  static byte[] compact(String json) {
    StringBuilder out = new StringBuilder();
    boolean inString = false;
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (inString || !Character.isWhitespace(c)) {
        out.append(c);
      }
      if (inString && c == '\\' && i + 1 < json.length()) {
        out.append(json.charAt(++i));
      } else if (c == '"') {
        inString = !inString;
      }
    }
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }
}

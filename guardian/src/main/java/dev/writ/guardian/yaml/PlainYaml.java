package dev.writ.guardian.yaml;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads one file of YAML 1.2 (of which JSON is a part), event by event, and keeps the place of
 * everything. Only mappings, lists and scalars: an anchor, alias or tag is refused where it stands,
 * so that no file is larger than it looks.
 */
public final class PlainYaml {
  /** Size of a file in bytes. */
  public static final int BYTES_MAX = 1 << 20;

  private static final int BUFFER_MIN = 1_024;

  /** How large a file may be, and how it is read. */
  private enum Terms {
    /** Files of ours. */
    OWN(BYTES_MAX, 48, 100_000),

    /**
     * Files that others wrote for many readers: larger ones, with numbers and words of JSON as
     * keys, and numbers that JSON cannot hold exactly, which are read as text.
     */
    FOREIGN(16 << 20, 100, 1_000_000);

    private final int bytesMax;
    private final int depthMax;
    private final int valuesMax;

    Terms(int bytesMax, int depthMax, int valuesMax) {
      this.bytesMax = bytesMax;
      this.depthMax = depthMax;
      this.valuesMax = valuesMax;
    }
  }

  /** A number as RFC 8259 writes it; all that is none, and no word of JSON, is text. */
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  /** A number one of whose digits before the exponent is not zero. */
  private static final Pattern NOT_ZERO = Pattern.compile("[-0.]*[1-9]");

  /** Characters that turn the direction of text, so that readers see another order. */
  private static final Pattern TURNS =
      Pattern.compile("[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]");

  private final String file;
  private final Terms terms;
  private final Iterator<Event> events;
  private final Optional<YamlLayout> layout;
  private int values;

  private PlainYaml(String file, Terms terms, Iterator<Event> events, Optional<YamlLayout> layout) {
    this.file = file;
    this.terms = terms;
    this.events = events;
    this.layout = layout;
  }

  /**
   * @throws WritException {@code GRD-501}, {@code GRD-506} to {@code GRD-508}
   */
  public static Located read(byte[] bytes, String file) {
    return read(bytes, file, Terms.OWN);
  }

  /**
   * The same for a file that was not written for Writ: up to 16 MiB and a million values; a number
   * or a word of JSON may be a key, and a number that JSON cannot hold exactly is text.
   *
   * @throws WritException as {@link #read}
   */
  public static Located readForeign(byte[] bytes, String file) {
    return read(bytes, file, Terms.FOREIGN);
  }

  private static Located read(byte[] bytes, String file, Terms terms) {
    if (bytes.length > terms.bytesMax) {
      throw new WritException(
          GuardianError.POLICY_TOO_LARGE,
          file + ": " + bytes.length + " bytes, at most " + terms.bytesMax);
    }
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new WritException(GuardianError.POLICY_SYNTAX, file + ": not UTF-8", e);
    }
    requireDirection(text, file);
    Optional<Located> json =
        new PlainYaml(file, terms, Collections.emptyIterator(), Optional.empty()).json(bytes, text);
    if (json.isPresent()) {
      return json.get();
    }
    LoadSettings settings =
        LoadSettings.builder()
            .setLabel(file)
            .setCodePointLimit(terms.bytesMax)
            // With a smaller buffer, a long text in quotes is copied again for each.
            .setBufferSize(Math.max(BUFFER_MIN, text.length()))
            .build();
    YamlLayout layout =
        new YamlLayout(
            text,
            (at, found) -> refuse(GuardianError.POLICY_SYNTAX, file, at, found),
            (at, found) -> refuse(GuardianError.POLICY_YAML, file, at, found));
    try {
      Iterator<Event> events = new Parse(settings).parseString(text).iterator();
      return new PlainYaml(file, terms, events, Optional.of(layout)).document();
    } catch (MarkedYamlEngineException e) {
      Located.Place at = e.getProblemMark().map(PlainYaml::place).orElse(Located.Place.NONE);
      throw refuse(GuardianError.POLICY_SYNTAX, file, at, String.valueOf(e.getProblem()));
    } catch (YamlEngineException e) {
      throw new WritException(GuardianError.POLICY_SYNTAX, file + ": " + e.getMessage(), e);
    }
  }

  private static void requireDirection(String text, String file) {
    Matcher turn = TURNS.matcher(text);
    if (turn.find()) {
      String before = text.substring(0, turn.start());
      int line = 1 + (int) before.chars().filter(c -> c == '\n').count();
      throw refuse(
          GuardianError.POLICY_SYNTAX,
          file,
          new Located.Place(line, turn.start() - before.lastIndexOf('\n')),
          String.format(
              Locale.ROOT,
              "U+%04X, which turns the direction of text; write an escape within quotes",
              (int) turn.group().charAt(0)));
    }
  }

  private Optional<Located> json(byte[] bytes, String text) {
    return JsonText.read(
        bytes,
        text,
        new JsonText.Reader() {
          @Override
          public void enter(Located.Place at, int depth) {
            requireRoom(at, depth);
          }

          @Override
          public JsonValue number(String token, Located.Place at) {
            return requireNumber(token, at);
          }
        });
  }

  private void requireRoom(Located.Place at, int depth) {
    if (++values > terms.valuesMax || depth > terms.depthMax) {
      throw refuse(
          GuardianError.POLICY_TOO_LARGE,
          at,
          "more than " + terms.valuesMax + " values or " + terms.depthMax + " levels");
    }
  }

  private Event next() {
    Event event = events.next();
    layout.ifPresent(check -> check.accept(event));
    return event;
  }

  private Located document() {
    next();
    Event first = next();
    if (first.getEventId() != Event.ID.DocumentStart) {
      throw new WritException(GuardianError.POLICY_SYNTAX, file + ": the file is empty");
    }
    Located value = value(next(), 0);
    next();
    Event last = next();
    if (last.getEventId() != Event.ID.StreamEnd) {
      throw refuse(GuardianError.POLICY_YAML, place(last), "a second document");
    }
    return value;
  }

  private Located value(Event event, int depth) {
    Located.Place at = place(event);
    requireRoom(at, depth);
    if (event instanceof AliasEvent) {
      throw refuse(GuardianError.POLICY_YAML, at, "an alias");
    }
    if (event instanceof NodeEvent node && node.getAnchor().isPresent()) {
      throw refuse(GuardianError.POLICY_YAML, at, "an anchor");
    }
    if (event instanceof ScalarEvent scalar) {
      return new Located.Scalar(at, scalar(scalar, at));
    }
    if (event instanceof CollectionStartEvent collection && collection.getTag().isPresent()) {
      throw refuse(GuardianError.POLICY_YAML, at, "a tag");
    }
    return event instanceof MappingStartEvent mapping
        ? mapping(at, depth, mapping.isFlow())
        : sequence(at, depth);
  }

  private Located mapping(Located.Place at, int depth, boolean flow) {
    LinkedHashMap<String, Located.Member> members = new LinkedHashMap<>();
    for (Event event = next(); event.getEventId() != Event.ID.MappingEnd; event = next()) {
      Located.Place keyAt = place(event);
      String text =
          key(event, value(event, depth + 1))
              .orElseThrow(() -> refuse(GuardianError.POLICY_TYPE, keyAt, "a key is not a string"));
      if (isPlain(event, "<<")) {
        throw refuse(GuardianError.POLICY_YAML, keyAt, "a merge key");
      }
      Event valueEvent = next();
      if (flow && isPlain(valueEvent, "")) {
        throw refuse(GuardianError.POLICY_SYNTAX, keyAt, "\"" + text + "\" has no value in braces");
      }
      Located value = value(valueEvent, depth + 1);
      if (members.put(text, new Located.Member(keyAt, value)) != null) {
        throw refuse(GuardianError.POLICY_DUPLICATE, keyAt, "key \"" + text + "\"");
      }
    }
    return new Located.Map(at, members);
  }

  /** The text of a key; a file of others has {@code 200:} where it means the text. */
  private Optional<String> key(Event event, Located key) {
    return switch (key) {
      case Located.Scalar(_, JsonValue.Str text) -> Optional.of(text.value());
      case Located.Scalar _ when terms == Terms.FOREIGN && event instanceof ScalarEvent scalar ->
          Optional.of(scalar.getValue());
      default -> Optional.empty();
    };
  }

  private static boolean isPlain(Event event, String value) {
    return event instanceof ScalarEvent scalar
        && scalar.getScalarStyle() == ScalarStyle.PLAIN
        && scalar.getValue().equals(value);
  }

  private Located sequence(Located.Place at, int depth) {
    List<Located> items = new ArrayList<>();
    for (Event event = next(); event.getEventId() != Event.ID.SequenceEnd; event = next()) {
      items.add(value(event, depth + 1));
    }
    return new Located.Seq(at, List.copyOf(items));
  }

  private JsonValue scalar(ScalarEvent scalar, Located.Place at) {
    if (scalar.getTag().isPresent()) {
      throw refuse(GuardianError.POLICY_YAML, at, "a tag");
    }
    String text = scalar.getValue();
    for (int i = 0; i < text.length(); i++) {
      if (Character.isHighSurrogate(text.charAt(i))
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(text.charAt(i))) {
        throw refuse(GuardianError.POLICY_SYNTAX, at, "half of a surrogate pair");
      }
    }
    if (scalar.getScalarStyle() != ScalarStyle.PLAIN) {
      return JsonValue.of(text);
    }
    return switch (text) {
      case "", "null" -> JsonValue.NULL;
      case "true", "false" -> JsonValue.of(text.equals("true"));
      default -> NUMBER.matcher(text).matches() ? requireNumber(text, at) : JsonValue.of(text);
    };
  }

  private JsonValue requireNumber(String text, Located.Place at) {
    return number(text)
        .or(() -> terms == Terms.FOREIGN ? Optional.of(JsonValue.of(text)) : Optional.empty())
        .orElseThrow(
            () -> refuse(GuardianError.POLICY_VALUE, at, "a number that JSON cannot hold exactly"));
  }

  private static Optional<JsonValue> number(String text) {
    try {
      double value = Double.parseDouble(text);
      boolean lost = value == 0 && NOT_ZERO.matcher(text).lookingAt();
      if (Double.isFinite(value) && Math.abs(value) <= JsonValue.Num.MAX_INTEGER && !lost) {
        return Optional.of(new JsonValue.Num(value == 0 ? 0 : value));
      }
    } catch (NumberFormatException e) {
      // refused below, with infinity and the rest
    }
    return Optional.empty();
  }

  private static Located.Place place(Event event) {
    return event.getStartMark().map(PlainYaml::place).orElse(Located.Place.NONE);
  }

  private static Located.Place place(Mark mark) {
    return new Located.Place(mark.getLine() + 1, mark.getColumn() + 1);
  }

  private WritException refuse(GuardianError code, Located.Place at, String found) {
    return refuse(code, file, at, found);
  }

  private static WritException refuse(
      GuardianError code, String file, Located.Place at, String found) {
    return new FileFault(code, file, at, "", found);
  }
}

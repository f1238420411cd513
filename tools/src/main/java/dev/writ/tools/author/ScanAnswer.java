package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SortedMap;

/** The answer of a scanning script: references, or the place of a syntax error. */
public final class ScanAnswer {
  private ScanAnswer() {}

  /**
   * @throws WritException {@code TOL-210} where a file is no program of the language
   */
  public static List<Reference> read(byte[] json) {
    Fields fields = Fields.of("scan", Jcs.parse(json));
    List<String> unreadable = fields.list("unreadable", Fields::stringItem);
    List<Reference> references = fields.list("references", ScanAnswer::reference);
    fields.end();
    if (!unreadable.isEmpty()) {
      throw new WritException(ToolsError.SOURCE_UNREADABLE, unreadable.getFirst());
    }
    return references;
  }

  private static Reference reference(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    Reference reference =
        new Reference(
            fields.string("path"),
            fields.count("line"),
            fields.count("column"),
            fields.string("name"),
            fields.bool("dynamic"));
    fields.end();
    return reference;
  }

  /** The files in the form that scripts get. */
  public static JsonValue.Obj question(SortedMap<String, byte[]> files) {
    var texts = JsonValue.object();
    files.forEach((path, bytes) -> texts.put(path, text(path, bytes)));
    return texts.build();
  }

  private static String text(String path, byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new WritException(ToolsError.SOURCE_UNREADABLE, path + " is not UTF-8", e);
    }
  }
}

package dev.writ.tools.http.call;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.egress.EgressClient.Received;
import dev.writ.tools.http.HttpOperation;
import dev.writ.tools.process.Masking;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPInputStream;

/** Makes an output of an answer. */
final class Answers {
  /** An answer that cannot become an output; its message is for people. */
  static final class Unusable extends Exception {
    private static final long serialVersionUID = 1L;
    private final String reason;

    Unusable(String reason, String message) {
      super(message);
      this.reason = reason;
    }

    String reason() {
      return reason;
    }
  }

  private Answers() {}

  /** The content, decompressed within the operation's bound. */
  static byte[] content(Received answer, HttpOperation operation) throws Unusable {
    List<String> codings = answer.values("content-encoding");
    String coding = codings.isEmpty() ? "identity" : codings.getFirst().toLowerCase(Locale.ROOT);
    if (codings.size() > 1 || !List.of("identity", "gzip", "x-gzip").contains(coding)) {
      throw new Unusable("answer-encoding", "it is encoded otherwise than with gzip");
    }
    if (coding.equals("identity") || answer.content().length == 0) {
      return answer.content();
    }
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(answer.content()))) {
      byte[] bytes = in.readNBytes((int) operation.bytesMax() + 1);
      if (bytes.length > operation.bytesMax()) {
        throw new Unusable(
            "answer-too-large", "decompressed it has more than " + operation.bytesMax() + " bytes");
      }
      return bytes;
    } catch (IOException e) {
      throw new Unusable("answer-encoding", "its gzip is broken");
    }
  }

  /** The media type without parameters, in lower case; empty where none is stated. */
  static String mediaType(Received answer) {
    List<String> types = answer.values("content-type");
    String first = types.size() == 1 ? types.getFirst() : "";
    return first.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
  }

  /**
   * The output {@code {status, headers, body}}, without anything that the masking finds.
   *
   * @param strict whether JSON that is none is refused; otherwise it is shown as text
   */
  static JsonValue.Obj document(
      Received answer, byte[] content, HttpOperation operation, Masking masking, boolean strict)
      throws Unusable {
    var headers = JsonValue.object();
    for (String name : operation.headers()) {
      List<String> values = answer.values(name);
      if (!values.isEmpty()) {
        headers.put(name, String.join(", ", values));
      }
    }
    var document =
        JsonValue.object().put("status", (long) answer.status()).put("headers", headers.build());
    if (content.length > 0) {
      document.put("body", body(mediaType(answer), content, strict));
    }
    return (JsonValue.Obj) masking.apply(document.build());
  }

  private static JsonValue body(String mediaType, byte[] content, boolean strict) throws Unusable {
    boolean json = mediaType.equals("application/json") || mediaType.endsWith("+json");
    if (json) {
      try {
        return Jcs.parse(content);
      } catch (WritException e) {
        if (strict) {
          throw new Unusable(
              "answer-not-json", "its JSON is not what Writ can hold: " + e.code().meaning());
        }
      }
    }
    boolean text = json || mediaType.startsWith("text/") || mediaType.endsWith("+xml");
    if (text
        || List.of("application/xml", "application/x-www-form-urlencoded").contains(mediaType)) {
      try {
        return JsonValue.of(
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString());
      } catch (CharacterCodingException e) {
        return base64(content); // it is text in another encoding
      }
    }
    return base64(content);
  }

  private static JsonValue base64(byte[] content) {
    return JsonValue.object().put("base64", Base64.getEncoder().encodeToString(content)).build();
  }
}

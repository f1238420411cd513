package dev.writ.console.web;

import dev.writ.canonicalize.Digest;
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.HttpAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * A file of the page, as it is and compressed.
 *
 * @param tag its entity tag (RFC 9110, 8.8.3)
 */
record Asset(String mediaType, byte[] bytes, byte[] compressed, String tag) {
  static Asset of(String mediaType, byte[] bytes) {
    String tag = "\"" + Digest.sha256(bytes).hex().substring(0, 32) + "\"";
    return new Asset(mediaType, bytes, compress(bytes), tag);
  }

  private static byte[] compress(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  /** Nothing where the browser has it already. */
  HttpAnswer answer(Headers headers) {
    boolean known =
        headers.all("if-none-match").stream()
            .flatMap(line -> List.of(line.split(",")).stream())
            .map(tagged -> tagged.strip().replace("W/", ""))
            .anyMatch(tag::equals);
    if (known) {
      return new HttpAnswer(304, common(), new HttpAnswer.Body.Bytes(new byte[0]));
    }
    boolean small =
        headers.all("accept-encoding").stream().anyMatch(line -> line.contains("gzip"))
            && compressed.length < bytes.length;
    HttpAnswer answer =
        new HttpAnswer(200, common(), new HttpAnswer.Body.Bytes(small ? compressed : bytes))
            .with("Content-Type", mediaType);
    return small ? answer.with("Content-Encoding", "gzip") : answer;
  }

  private List<Map.Entry<String, String>> common() {
    return List.of(
        Map.entry("ETag", tag),
        Map.entry("Cache-Control", "no-cache"),
        Map.entry("Vary", "Accept-Encoding"));
  }
}

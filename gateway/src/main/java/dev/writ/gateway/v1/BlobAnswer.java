package dev.writ.gateway.v1;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.TenantContents;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.executor.retention.Deletions;
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Stored content as an answer, streamed: whole, or the range that was asked for. */
public final class BlobAnswer {
  private static final int PIECE_BYTES = 1 << 16;

  private BlobAnswer() {}

  /**
   * Content of a tenant, for a caller that was found to have a right to it.
   *
   * @param mediaType as a document states it
   * @param headers of the call
   * @throws WritException {@code GWY-040} where it is not stored for the tenant, {@code EXE-960}
   *     where a rule had it deleted, {@code EXE-944} where it is in an archive that is not known
   *     here, {@code EXE-947} to {@code EXE-949}, {@code GWY-033}
   */
  public static HttpAnswer of(
      Kernel kernel, String tenant, Digest digest, String mediaType, Headers headers) {
    LedgerView ledger = kernel.ledger();
    if (!TenantContents.has(ledger, tenant, digest)) {
      throw Reader.unknown(digest);
    }
    if (!ledger.hasBlob(digest)) {
      return archived(kernel, tenant, digest, mediaType, headers);
    }
    ledger.requireKey(digest);
    return of(digest, ledger.blobSize(digest), mediaType, headers, () -> ledger.openBlob(digest));
  }

  /** Of an archived run: its bundle is opened once now, so that what is wrong has an answer. */
  private static HttpAnswer archived(
      Kernel kernel, String tenant, Digest digest, String mediaType, Headers headers) {
    ArchivedContents archive = kernel.contents().archivedContents();
    Optional<ArchivedContents.Found> found = archive.find(kernel.ledger(), digest, tenant);
    if (found.isEmpty()) {
      throw Deletions.of(kernel.ledger(), digest, tenant)
          .map(stated -> stated.gone(digest))
          .orElseGet(() -> Reader.unknown(digest));
    }
    close(found.get().content());
    return of(
        digest,
        found.get().size(),
        mediaType,
        headers,
        () -> archive.find(kernel.ledger(), digest, tenant).orElseThrow().content());
  }

  private static void close(InputStream content) {
    try {
      content.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static HttpAnswer of(
      Digest digest, long size, String mediaType, Headers headers, Supplier<InputStream> content) {
    List<Map.Entry<String, String>> head = new ArrayList<>();
    head.add(Map.entry("Content-Type", "application/octet-stream"));
    head.add(Map.entry("Writ-Media-Type", printable(mediaType)));
    head.add(Map.entry("ETag", "\"" + digest.hex() + "\""));
    head.add(Map.entry("Accept-Ranges", "bytes"));
    head.add(Map.entry("Cache-Control", "no-store"));
    Optional<ByteRange> range = ByteRange.of(headers, size, digest.hex());
    ByteRange sent = range.orElse(new ByteRange(0, size));
    range.ifPresent(r ->
        head.add(
            Map.entry("Content-Range", "bytes " + r.from() + "-" + (r.to() - 1) + "/" + size)));
    return new HttpAnswer(
        range.isPresent() ? 206 : 200,
        head,
        new HttpAnswer.Body.Stream(
            sent.to() - sent.from(), sink -> copy(content, sent, size, sink)));
  }

  /**
   * The media type from the tool goes into a header beside Content-Type, so that a browser does not
   * run a tool's output.
   */
  private static String printable(String mediaType) {
    return mediaType.replaceAll("[^ -~]", "?");
  }

  private static void copy(
      Supplier<InputStream> content, ByteRange range, long size, HttpAnswer.Sink sink)
      throws IOException {
    try (InputStream in = content.get()) {
      in.skipNBytes(range.from());
      long left = range.to() - range.from();
      while (left > 0) {
        byte[] piece = in.readNBytes((int) Math.min(left, PIECE_BYTES));
        if (piece.length == 0) {
          throw new IOException("the blob is shorter than its size");
        }
        left -= piece.length;
        if (left == 0 && range.to() == size && in.read() >= 0) {
          throw new IOException("the blob is longer than its size");
        }
        sink.write(piece);
      }
    }
  }
}

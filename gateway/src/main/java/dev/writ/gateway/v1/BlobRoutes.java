package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.limit.StorageLimits;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.StorageUse;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Content by its digest: uploaded by a tenant, and read through a document that names it. */
final class BlobRoutes {
  private final Reader reader;
  private final long bytesMax;

  BlobRoutes(Reader reader, long bytesMax) {
    this.reader = reader;
    this.bytesMax = bytesMax;
  }

  List<Route> routes() {
    return List.of(
        new Route(
            "PUT",
            "/v1/blobs/{digest}",
            CALLER,
            new Route.Body.Streamed(bytesMax),
            _ -> true,
            this::put),
        Route.get("/v1/storage", CALLER, this::storage),
        Route.get("/v1/blobs/{digest}", CALLER, this::get),
        Route.get("/v1/receipts/{id}/output", CALLER, this::output));
  }

  private HttpAnswer put(HttpCall call) {
    Digest digest = Bodies.id(call, "digest");
    Caller caller = call.caller();
    boolean mayStore =
        reader
            .kernel()
            .system()
            .policyInForce()
            .mayStore(caller.tenant(), caller.subject(), caller.roles());
    if (!mayStore) {
      throw new WritException(GatewayError.STORE_REFUSED, caller.subject());
    }
    String mediaType = call.headers().one("content-type").orElse("application/octet-stream");
    InputStream content = new Checked(call.stream().orElseThrow(), digest);
    Content stored =
        reader
            .kernel()
            .contents()
            .put(caller.tenant(), caller.subject(), content, mediaType, Optional.of(digest));
    return HttpAnswer.json(
        201, JsonValue.object().put("digest", stored.digest()).put("size", stored.size()).build());
  }

  /** The storage that the caller's tenant uses, and its limits. */
  private HttpAnswer storage(HttpCall call) {
    StorageLimits limits = reader.kernel().system().policyInForce().storage();
    StorageUse used = reader.kernel().contents().storageUse(call.caller().tenant());
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("blobs", used.blobs())
            .put("bytes", used.bytes())
            .put("bytes_max", limits.bytesMax())
            .put("unnamed_s", limits.unnamedS())
            .build());
  }

  /** Compares the digest at the end, and refuses other content before it is stored. */
  private static final class Checked extends FilterInputStream {
    private final MessageDigest hash = Digest.newSha256();
    private final Digest wanted;

    Checked(InputStream in, Digest wanted) {
      super(in);
      this.wanted = wanted;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int count = in.read(into, offset, length);
      if (count >= 0) {
        hash.update(into, offset, count);
        return count;
      }
      Digest found = Digest.ofBytes(((MessageDigest) clone(hash)).digest());
      if (!found.equals(wanted)) {
        throw new WritException(GatewayError.BLOB_DIGEST, "it is " + found);
      }
      return count;
    }

    private static Object clone(MessageDigest hash) {
      try {
        return hash.clone();
      } catch (CloneNotSupportedException e) {
        throw new IllegalStateException("the JDK's SHA-256 can be cloned", e);
      }
    }
  }

  /**
   * A blob, through the receipt or request ({@code ?of=}) that names it and that the caller may
   * read, or that waits for the caller's approval; without one, only for the subject that uploaded
   * it or whose effect produced it. A request that names a digest gives no right to the content:
   * its author can write any digest there.
   */
  private HttpAnswer get(HttpCall call) {
    Caller caller = call.caller();
    Digest digest = Bodies.id(call, "digest");
    Optional<Digest> of = Bodies.parameter(call, "of").map(Digest::parse);
    String mediaType;
    if (of.isPresent()) {
      mediaType =
          named(caller, of.get())
              .filter(content -> content.digest().equals(digest))
              .findFirst()
              .map(Content::mediaType)
              .orElseThrow(() -> Reader.unknown(digest));
    } else if (reader.mayName(caller, digest)) {
      mediaType = "application/octet-stream";
    } else {
      throw Reader.unknown(digest);
    }
    HttpAnswer answer =
        BlobAnswer.of(reader.kernel(), caller.tenant(), digest, mediaType, call.headers());
    of.ifPresentOrElse(
        document -> read(caller, document), () -> reader.records().content(caller, digest));
    return answer;
  }

  /** A content that a receipt or a request names. */
  private void read(Caller caller, Digest id) {
    Envelope document = reader.kernel().ledger().document(id).orElseThrow();
    reader
        .records()
        .effect(
            caller,
            scope(document),
            id,
            document.payloadType().equals(Request.TYPE) ? ReadClass.PARAMETERS : ReadClass.OUTPUTS);
  }

  private static Scope scope(Envelope document) {
    return Scope.read(Fields.of("document", document.document()));
  }

  private Stream<Content> named(Caller caller, Digest document) {
    var envelope = reader.kernel().ledger().document(document);
    if (envelope.isPresent() && envelope.get().payloadType().equals(Request.TYPE)) {
      boolean known = reader.maySee(caller, scope(envelope.get()));
      return Request.read(envelope.get().document()).effect().inputs().stream()
          .filter(input ->
              known && (isServed(document) || reader.mayName(caller, input.digest()))
                  || reader.waitsWith(caller, document, input.digest()))
          .map(input -> new Content(input.digest(), input.size(), input.mediaType()));
    }
    Receipt receipt = Receipt.read(reader.document(caller, document, Receipt.TYPE).document());
    return Stream.of(
            receipt.output().stream(),
            receipt.rawOutput().stream(),
            receipt.artifacts().stream().map(Receipt.Artifact::content))
        .flatMap(content -> content);
  }

  /** If a request was served, the executor has checked that it may name its inputs. */
  private boolean isServed(Digest request) {
    return reader.kernel().ledger().get(Tables.SERVED, Tables.key(request)).isPresent();
  }

  private HttpAnswer output(HttpCall call) {
    Digest id = Bodies.id(call, "id");
    Receipt receipt = Receipt.read(reader.document(call.caller(), id, Receipt.TYPE).document());
    Content output = receipt.output().or(receipt::rawOutput).orElseThrow(() -> Reader.unknown(id));
    HttpAnswer answer =
        BlobAnswer.of(
            reader.kernel(),
            call.caller().tenant(),
            output.digest(),
            output.mediaType(),
            call.headers());
    reader.records().effect(call.caller(), receipt.scope(), id, ReadClass.OUTPUTS);
    return answer;
  }
}

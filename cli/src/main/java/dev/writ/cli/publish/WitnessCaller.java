package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.ledger.witness.AddCheckpoint;
import dev.writ.ledger.witness.Witness;
import dev.writ.ledger.witness.WitnessAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** Asks witnesses by C2SP tlog-witness. */
public final class WitnessCaller implements AutoCloseable {
  /** The answer of a witness is a few lines; a checkpoint with its signatures is the most. */
  private static final int ANSWER_BYTES_MAX = 64 << 10;

  /** One to learn the size, one with the proof, one where another asked in between. */
  private static final int ATTEMPTS = 3;

  /** Gives the proof that the log of one size continues that of another. */
  @FunctionalInterface
  public interface Proofs {
    MerkleProof between(long from, long to);
  }

  private final HttpPost post;
  private final Proofs proofs;
  private final ReentrantLock proving = new ReentrantLock();

  /**
   * @param authority PEM of the authority that is believed, in place of the JDK's
   * @throws WritException {@code CLI-002} where it cannot be read
   */
  public WitnessCaller(Optional<Path> authority, Proofs proofs) {
    this.post = new HttpPost(authority);
    this.proofs = proofs;
  }

  /**
   * Has a checkpoint cosigned. All its answers together have the time of one.
   *
   * @return the checkpoint with the lines of the answer, of which nothing is verified
   * @throws WritException {@code CLI-101} where the witness knows another history, {@code CLI-102}
   *     where it refuses otherwise, {@code CLI-103} without an answer of the protocol
   */
  public Checkpoint ask(URI url, Checkpoint checkpoint) {
    long end = System.nanoTime() + HttpPost.ANSWER_WITHIN.toNanos();
    long old = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      MerkleProof proof = old == 0 ? new MerkleProof(List.of()) : proof(old, checkpoint.size());
      HttpResponse<byte[]> response =
          post(url, new AddCheckpoint(old, proof, checkpoint).toBytes(), end);
      String text = new String(response.body(), StandardCharsets.UTF_8);
      if (response.statusCode() == 200) {
        return withLines(url, checkpoint, text);
      }
      if (response.statusCode() == 422) {
        throw forked(url, checkpoint, "it was shown another history of " + old + " entries");
      }
      if (response.statusCode() != 409 || !isSize(response)) {
        throw new WritException(
            CliError.WITNESS_REFUSED, url + ": " + response.statusCode() + " " + first(text));
      }
      old = size(url, text);
      if (old > checkpoint.size()) {
        throw forked(url, checkpoint, "it has seen " + old + " entries of it");
      }
    }
    throw new WritException(
        CliError.WITNESS_UNANSWERED, url + ": it names another size again and again");
  }

  /** The ledger of a command is read by one at a time. */
  private MerkleProof proof(long from, long to) {
    proving.lock();
    try {
      return proofs.between(from, to);
    } finally {
      proving.unlock();
    }
  }

  /**
   * What a witness said in an answer.
   *
   * @throws WritException {@code CLI-103} for a cosignature that does not hold
   */
  static Optional<Cosignature> cosignature(URI url, Checkpoint answer, WitnessKey key) {
    try {
      return Cosignature.of(answer, key);
    } catch (WritException e) {
      throw new WritException(CliError.WITNESS_UNANSWERED, url + ": " + e.getMessage(), e);
    }
  }

  private static WritException forked(URI url, Checkpoint checkpoint, String what) {
    return new WritException(
        CliError.WITNESS_FORK,
        url
            + " does not see the log of size "
            + checkpoint.size()
            + " continued: "
            + what
            + "; what it cosigned last is at "
            + address(url, Witness.hash(checkpoint.origin()) + "/checkpoint"));
  }

  private static URI address(URI url, String path) {
    String prefix = url.toString();
    return URI.create(prefix.endsWith("/") ? prefix + path : prefix + "/" + path);
  }

  private HttpResponse<byte[]> post(URI url, byte[] body, long end) {
    try {
      return post.send(
          HttpRequest.newBuilder(address(url, "add-checkpoint")),
          body,
          ANSWER_BYTES_MAX,
          Duration.ofNanos(Math.max(0, end - System.nanoTime())));
    } catch (IOException e) {
      throw unanswered(url, HttpPost.why(e), e);
    }
  }

  private static WritException unanswered(URI url, String what, Exception cause) {
    return new WritException(CliError.WITNESS_UNANSWERED, url + ": " + what, cause);
  }

  private static Checkpoint withLines(URI url, Checkpoint checkpoint, String lines) {
    try {
      ByteArrayOutputStream note = new ByteArrayOutputStream();
      note.writeBytes(checkpoint.toBytes());
      note.writeBytes(lines.getBytes(StandardCharsets.UTF_8));
      return Checkpoint.parse(note.toByteArray());
    } catch (WritException e) {
      throw unanswered(url, e.getMessage(), e);
    }
  }

  private static boolean isSize(HttpResponse<byte[]> response) {
    return response
        .headers()
        .firstValue("Content-Type")
        .filter(WitnessAnswer.SIZE::equals)
        .isPresent();
  }

  private static long size(URI url, String text) {
    if (text.matches("(0|[1-9][0-9]{0,15})\n")) {
      long size = Long.parseLong(text.stripTrailing());
      if (size <= JsonValue.Num.MAX_INTEGER) {
        return size;
      }
    }
    throw new WritException(CliError.WITNESS_UNANSWERED, url + ": the size is no number");
  }

  private static String first(String text) {
    String line = text.lines().findFirst().orElse("");
    return line.length() <= 200 ? line : line.substring(0, 200);
  }

  @Override
  public void close() {
    post.close();
  }
}

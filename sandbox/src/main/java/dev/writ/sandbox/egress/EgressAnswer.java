package dev.writ.sandbox.egress;

import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import dev.writ.sandbox.egress.EgressClient.Progress;
import dev.writ.sandbox.egress.EgressClient.Why;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * An answer whose content is read while it comes. Its connection is gone once it is closed, by any
 * thread, or once the request's time is over.
 */
public final class EgressAnswer implements AutoCloseable {
  private static final int PIECE = 1 << 14;

  private final Progress progress;
  private final String address;
  private final List<Field> fields;
  private final Framing framing;
  private final ContentInput in;
  private final Runnable end;

  EgressAnswer(
      Progress progress,
      String address,
      List<Field> fields,
      Framing framing,
      ContentInput in,
      Runnable end) {
    this.progress = progress;
    this.address = address;
    this.fields = fields;
    this.framing = framing;
    this.in = in;
    this.end = end;
  }

  public int status() {
    return progress.status();
  }

  /** The address of the server. */
  public String address() {
    return address;
  }

  /** The fields in their order. */
  public List<Field> fields() {
    return fields;
  }

  /** The values of a field, in their order. */
  public List<String> values(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return fields.stream().filter(f -> f.name().equals(lower)).map(Field::value).toList();
  }

  /**
   * Reads what has come of the content, at least one byte.
   *
   * @return how many bytes; -1 at the end
   * @throws NoAnswer where the content ends before it is whole, or the time is over
   */
  public int read(byte[] buffer) throws NoAnswer {
    try {
      return in.read(buffer);
    } catch (IOException e) {
      throw EgressClient.failed(e, progress);
    }
  }

  /**
   * Reads the whole content.
   *
   * @param most bytes of it
   * @throws NoAnswer as {@link #read}, or where there is more
   */
  public byte[] all(long most) throws NoAnswer {
    if (framing instanceof Framing.Length length && length.bytes() > most) {
      throw tooLarge(most);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] piece = new byte[PIECE];
    for (int n = read(piece); n >= 0; n = read(piece)) {
      if (all.size() + (long) n > most) {
        throw tooLarge(most);
      }
      all.write(piece, 0, n);
    }
    return all.toByteArray();
  }

  private NoAnswer tooLarge(long most) {
    return progress.no(Why.TOO_LARGE, "the answer has more than " + most + " bytes");
  }

  @Override
  public void close() {
    end.run();
  }
}

package dev.writ.tools.process;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.Captured;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.SecretFile;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Masks the secrets of a call in its output: in plain form, in percent-encoding and JSON escapes,
 * in hexadecimal and in base64 of either alphabet, even if the secret is only a part of what was
 * encoded, and if the text was wrapped into lines. Each line of a secret of several lines is masked
 * on its own if it is long enough. This protects against accidents only: a malicious program can
 * still reveal a secret, for example written backwards.
 */
public final class Masking {
  /** The shortest secret that is masked: shorter ones would match unrelated output. */
  public static final int SECRET_BYTES_MIN = 8;

  private static final String MARK = "[secret]";
  private static final byte[] MASK = MARK.getBytes(StandardCharsets.US_ASCII);

  private final List<SecretForm> forms;
  private final TreeSet<Double> numbers = new TreeSet<>();
  private final boolean[] first = new boolean[256];
  private final int longest;

  public Masking(List<SecretFile> secrets) {
    List<byte[]> values = new ArrayList<>();
    for (SecretFile secret : secrets) {
      addOnce(values, secret.bytes());
      lines(secret.bytes()).forEach(line -> addOnce(values, line));
    }
    values.forEach(value -> addNumber(new String(value, StandardCharsets.UTF_8)));
    this.forms = values.stream().flatMap(value -> SecretForm.of(value).stream()).toList();
    int most = 0;
    for (SecretForm form : forms) {
      most = Math.max(most, form.longest());
      for (int c = 0; c < first.length; c++) {
        first[c] |= form.mayBeginWith((byte) c);
      }
    }
    this.longest = most;
  }

  private static void addOnce(List<byte[]> values, byte[] value) {
    if (value.length >= SECRET_BYTES_MIN
        && values.stream().noneMatch(known -> Arrays.equals(known, value))) {
      values.add(value);
    }
  }

  private void addNumber(String secret) {
    try {
      double value = Math.abs(Double.parseDouble(secret));
      if (Double.isFinite(value)) {
        numbers.add(value);
      }
    } catch (NumberFormatException noNumber) {
      return;
    }
  }

  private static List<byte[]> lines(byte[] secret) {
    List<byte[]> lines = new ArrayList<>();
    int from = 0;
    for (int i = 0; i <= secret.length; i++) {
      if (i == secret.length || secret[i] == '\n' || secret[i] == '\r') {
        lines.add(Arrays.copyOfRange(secret, from, i));
        from = i + 1;
      }
    }
    return lines;
  }

  /** The same bytes, with each secret replaced by a mark. */
  public byte[] apply(byte[] bytes) {
    return apply(bytes, false);
  }

  /**
   * The same for output that may have been cut: its end may be the beginning of a secret, and is
   * masked if it is more than three bytes of one.
   */
  public byte[] apply(byte[] bytes, boolean cut) {
    if (forms.isEmpty()) {
      return bytes;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length);
    Stream stream = stream();
    out.writeBytes(stream.next(bytes));
    out.writeBytes(stream.end(cut));
    return out.toByteArray();
  }

  /**
   * The result of a command with its output masked. Digests and sizes are those of the masked
   * output, since the digest of a short secret could be guessed.
   */
  public Ended apply(Ended ended) {
    return forms.isEmpty()
        ? ended
        : new Ended(
            ended.reason(),
            ended.reached(),
            ended.exitCode(),
            ended.signal(),
            apply(ended.stdout()),
            apply(ended.stderr()),
            ended.usage(),
            ended.egress(),
            ended.engine());
  }

  private Captured apply(Captured output) {
    byte[] told = apply(output.bytes(), output.truncated());
    long total = told.length + (output.total() - output.bytes().length);
    return new Captured(told, total);
  }

  /** The same value, with secrets masked in its texts, names and numbers. */
  public JsonValue apply(JsonValue value) {
    return switch (value) {
      case JsonValue.Str text -> JsonValue.of(apply(text.value()));
      case JsonValue.Num number -> tells(number) ? JsonValue.of(MARK) : value;
      case JsonValue.Arr list ->
          JsonValue.of(list.items().stream().map(item -> apply(item)).toList());
      case JsonValue.Obj object -> {
        TreeMap<String, JsonValue> members = new TreeMap<>();
        object.members().forEach((name, member) -> members.put(apply(name), apply(member)));
        yield new JsonValue.Obj(members);
      }
      default -> value;
    };
  }

  /** Whether a number reveals a secret: by its value, which may be rounded, or by its digits. */
  private boolean tells(JsonValue.Num number) {
    return numbers.contains(Math.abs(number.value())) || finds(Jcs.write(number));
  }

  /** The same text, with each secret replaced by a mark. */
  public String apply(String text) {
    return finds(text)
        ? new String(apply(text.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8)
        : text;
  }

  /** Whether a text holds a secret in any form. */
  public boolean finds(String text) {
    return finds(text.getBytes(StandardCharsets.UTF_8));
  }

  boolean finds(byte[] bytes) {
    for (int at = 0; at < bytes.length; at++) {
      if (endAt(bytes, at, false) > at) {
        return true;
      }
    }
    return false;
  }

  /** For output in pieces, wherever it is split. */
  public Stream stream() {
    return new Stream();
  }

  /** The end of the longest secret that begins at a place; the place itself if none does. */
  private int endAt(byte[] bytes, int at, boolean cut) {
    int end = at;
    if (first[bytes[at] & 0xff]) {
      for (SecretForm form : forms) {
        boolean begun = cut && form.isBegunAt(bytes, at);
        end = Math.max(end, begun ? bytes.length : form.endAt(bytes, at));
      }
    }
    return end;
  }

  /** Holds back bytes that may be the beginning of a secret. */
  public final class Stream {
    private byte[] held = new byte[0];

    /** How many held bytes belong to a secret whose mark was already written. */
    private int masked;

    private Stream() {}

    /** The output so far that can be passed on. */
    public byte[] next(byte[] piece) {
      byte[] bytes = Arrays.copyOf(held, held.length + piece.length);
      System.arraycopy(piece, 0, bytes, held.length, piece.length);
      return tell(bytes, Math.max(0, bytes.length - Math.max(0, longest - 1)), false);
    }

    /** The rest, whose end may be a part of a secret if the output was cut. */
    public byte[] end(boolean cut) {
      return tell(held, held.length, cut);
    }

    /** Passes on what begins before {@code until}; overlapping secrets become one mark. */
    private byte[] tell(byte[] bytes, int until, boolean cut) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      int covered = masked;
      int at = 0;
      for (; at < until; at++) {
        int end = endAt(bytes, at, cut);
        if (end > at) {
          if (covered <= at) {
            out.writeBytes(MASK);
          }
          covered = Math.max(covered, end);
        }
        if (covered <= at) {
          out.write(bytes[at]);
        }
      }
      held = Arrays.copyOfRange(bytes, at, bytes.length);
      masked = Math.max(0, covered - at);
      return out.toByteArray();
    }
  }
}
